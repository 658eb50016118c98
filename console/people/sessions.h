// The sessions of the people who are signed in. Only hashes of the tokens are stored, and only in
// memory: a restart signs everyone out. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "console/people/access.h"

namespace jackpot::console {

struct SessionSettings {
    std::int64_t idleMs = 15LL * 60 * 1000;      // since the last request of a person
    std::int64_t maxMs = 12LL * 60 * 60 * 1000;  // from sign-in, however much it is used
    bool bindToAddress = true;
};

class Sessions {
public:
    using Clock = std::function<std::int64_t()>;  // monotonic, in milliseconds
    // When a person has kMaxPerPerson sessions, a new one replaces the one unused for longest.
    static constexpr std::size_t kMaxPerPerson = 16;
    static constexpr std::size_t kMaxSessions = 4096;

    Sessions(SessionSettings settings, Clock clock);

    struct NewSession {
        std::string token;
        std::string csrf;
    };
    // Nothing if there are kMaxSessions already.
    std::optional<NewSession> begin(const Person& person, const std::string& address,
                                    bool mustChangePassword);

    struct Session {
        std::string id;  // not secret
        Person person;
        std::string address;
        std::string csrf;
        std::int64_t startedMs = 0;
        std::int64_t usedMs = 0;
        bool mustChangePassword = false;
    };
    enum class Use : std::uint8_t { ByPerson, Background };
    // The session of the token. Use::ByPerson restarts its idle time; Use::Background, for requests
    // that a page sends without a person acting, does not. Nothing if the token is unknown, the
    // session has ended, or it is bound to another address.
    std::optional<Session> use(std::string_view token, const std::string& address,
                               Use how = Use::ByPerson);
    // By its id; does not restart its idle time.
    std::optional<Session> find(const std::string& id) const;
    // Time until it ends if it is not used again.
    [[nodiscard]] std::int64_t remainingMs(const Session& session) const;

    void end(const std::string& id);
    // Ends every session of the person except `exceptId`.
    void endAllOfPerson(std::string_view name, std::string_view exceptId = {});
    void markPasswordChanged(const std::string& id);
    void setSettings(const SessionSettings& settings);

private:
    [[nodiscard]] bool hasEnded(const Session& session, std::int64_t now) const;

    Clock clock_;
    mutable std::mutex mutex_;
    SessionSettings settings_;
    std::unordered_map<std::string, Session> sessions_;  // by id: SHA-256 of the token in hex
};

// Compares in constant time for texts of equal length.
bool isSameSecret(std::string_view a, std::string_view b);

}  // namespace jackpot::console
