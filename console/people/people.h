// The accounts of the desk, in people.db beside the journal; only the daemon's user can read the
// file. Each change is an event in the journal before it takes effect. No event contains a
// password, a hash or a token. Thread-safe; a call that hashes a password takes tens of
// milliseconds, and two run at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "console/people/access.h"
#include "console/people/append_event.h"
#include "console/people/login_limits.h"
#include "console/people/people_requests.h"
#include "console/people/sessions.h"
#include "storage/sqlite.h"

namespace jackpot::console {

// The HTTP status, code and message of the reply. Nothing has changed.
struct PeopleError {
    int status = 400;
    std::string code;
    std::string message;
    std::int64_t waitMs = 0;  // sent as Retry-After, unless 0
};
Reply replyOf(const PeopleError& error);

class People {
public:
    using LogWarning = std::function<void(const std::string& warning)>;
    static constexpr std::size_t kMaxPeople = 10'000;
    // Refused sign-ins from one address are recorded together, once in this time.
    static constexpr std::int64_t kRefusalIntervalMs = 60'000;
    // The name recorded for requests from the machine itself. isPersonName() rejects it.
    static constexpr const char* kLocalActor = "(local)";

    // `directory` is the journal's. The sessions outlive the object. Fails if people.db cannot be
    // opened or other users can read it.
    static Result<std::unique_ptr<People>> open(const std::filesystem::path& directory,
                                                AppendEvent appendEvent, Sessions& sessions,
                                                Sessions::Clock clock, LogWarning logWarning);
    People(const People&) = delete;
    People& operator=(const People&) = delete;
    ~People();

    struct Account {
        std::string name;
        Role role = Role::Auditor;
        std::string certificate;
        bool disabled = false;
        bool mustChangePassword = false;
        std::int64_t lockedForMs = 0;
    };
    struct SignInResult {
        Sessions::NewSession session;
        Account account;
    };
    // `certificate` is the fingerprint of the client's certificate; empty without one.
    Result<SignInResult, PeopleError> signIn(const Credentials& given,
                                             const std::string& certificate,
                                             const std::string& address);
    Result<void, PeopleError> signOut(const Request& request);
    // Ends the person's other sessions.
    Result<void, PeopleError> changePassword(const Request& request, const NewPassword& given);

    Result<Account, PeopleError> add(const NewPerson& person, const std::string& by);
    // Ends the person's sessions.
    Result<Account, PeopleError> change(const std::string& name, const PersonChange& change,
                                        const std::string& by);
    Result<Account, PeopleError> unlock(const std::string& name, const std::string& by);
    Result<std::vector<Account>, PeopleError> list();

private:
    struct Row {
        Account account;
        std::string passwordHash;
    };
    // Refused sign-ins from one address that are not yet in the journal.
    struct RefusalCount {
        std::int64_t sinceMs = 0;
        std::int64_t count = 0;
        std::set<std::string> names;
    };

    People(storage::Database database, AppendEvent appendEvent, Sessions& sessions,
           Sessions::Clock clock, LogWarning logWarning);

    template <class Work>
    auto guarded(Work&& work) -> decltype(work());
    Result<void, PeopleError> appendEvent(const std::string& kind, EventFields fields);
    template <class Change>
    Result<void, PeopleError> changeAndAppendEvent(Change&& change, const std::string& kind,
                                                   EventFields fields);
    std::optional<Row> find(const std::string& name);
    [[nodiscard]] Account withLockTime(Account account) const;
    std::string hash(const std::string& password);
    bool matches(const std::string& password, const std::string& passwordHash);
    std::optional<PeopleError> findWait(const std::string& name, const std::string& address);
    PeopleError rejectSignIn(const std::string& name, bool isKnown, bool hasLocked,
                             const std::string& address);
    void countRefusal(const std::string& name, const std::string& address);
    void recordRefusals(bool all);
    void appendRefusalEvent(const std::string& address, std::int64_t count,
                            std::set<std::string> names);

    AppendEvent appendEvent_;
    Sessions& sessions_;
    Sessions::Clock clock_;
    LogWarning logWarning_;
    std::string dummyHash_;  // compared for unknown names, so that they take the same time
    std::counting_semaphore<2> hashing_{2};

    std::mutex mutex_;  // guards the members below
    storage::Database database_;
    LoginLimiter loginLimiter_;
    std::map<std::string, RefusalCount> refusals_;

    std::jthread thread_;  // calls recordRefusals() once a second
};

}  // namespace jackpot::console
