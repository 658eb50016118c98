// Who is signed in. Only the hash of a token is kept, in memory alone: a restart signs everyone
// out. Any thread.
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
    std::int64_t idleMs = 15LL * 60 * 1000;
    std::int64_t longestMs = 12LL * 60 * 60 * 1000;
    bool bindToAddress = true;
};

class Sessions {
public:
    using Clock = std::function<std::int64_t()>;  // milliseconds that never go back
    // More than a house has; the oldest of a person makes room for the next.
    static constexpr std::size_t kMaxOfPerson = 16;
    static constexpr std::size_t kMax = 4096;

    Sessions(SessionSettings settings, Clock clock);

    struct NewSession {
        std::string token;
        std::string csrf;
    };
    // Nothing where there are too many.
    std::optional<NewSession> begin(const Person& person, const std::string& address,
                                    bool mustChangePassword);

    struct Session {
        std::string id;
        Person person;
        std::string address;
        std::string csrf;
        std::int64_t startedMs = 0;
        std::int64_t usedMs = 0;
        bool mustChangePassword = false;
    };
    enum class Use : std::uint8_t { ByPerson, ByItself };
    // The session of the token, which has hereby been used, unless a page asked by itself. Nothing
    // where it is unknown, has ended, or is shown from another address.
    std::optional<Session> use(std::string_view token, const std::string& address,
                               Use how = Use::ByPerson);
    // The same by its id, without using it.
    std::optional<Session> find(const std::string& id) const;
    // When it ends if it is not used any more.
    [[nodiscard]] std::int64_t endsInMs(const Session& session) const;

    void end(const std::string& id);
    // Of the person, but for one.
    void endAllOf(std::string_view name, std::string_view butId = {});
    void passwordChanged(const std::string& id);
    void setSettings(const SessionSettings& settings);

private:
    [[nodiscard]] bool isOver(const Session& session, std::int64_t now) const;

    Clock clock_;
    mutable std::mutex mutex_;
    SessionSettings settings_;
    std::unordered_map<std::string, Session> sessions_;  // by the token's hash
};

// Compares in the same time whatever differs.
bool isSameSecret(std::string_view a, std::string_view b);

}  // namespace jackpot::console
