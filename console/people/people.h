// The people of the desk: accounts in people.db beside the journal, which only the daemon's user
// can read. Each change is journaled before it counts, never with a password, hash or token. Any
// thread; calls that hash a password take as long as that takes, two at once.
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
#include "console/desk/controller.h"
#include "console/people/access.h"
#include "console/people/login_limits.h"
#include "console/people/people_requests.h"
#include "console/people/sessions.h"
#include "storage/sqlite.h"

namespace jackpot::console {

// Why something was not done, in the form of the reply that says so.
struct Refused {
    int status = 400;
    std::string code;
    std::string message;
    std::int64_t waitMs = 0;  // until it may be tried again
};
Reply replyOf(const Refused& refused);

class People {
public:
    using Say = std::function<void(const std::string& warning)>;
    static constexpr std::size_t kMaxPeople = 10'000;
    static constexpr std::int64_t kFoldMs = 60'000;
    // Who acts where the request came from the machine itself. No person has such a name.
    static constexpr const char* kLocal = "(local)";

    static Result<std::unique_ptr<People>> open(const std::filesystem::path& directory,
                                                Controller controller, Sessions& sessions,
                                                Sessions::Clock clock, Say warn);
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
    struct SignedIn {
        Sessions::NewSession begun;
        Account account;
    };
    // `certificate` is the fingerprint of what the client showed, or empty.
    Result<SignedIn, Refused> signIn(const SignIn& given, const std::string& certificate,
                                     const std::string& address);
    Result<void, Refused> signOut(const Request& request);
    // Ends the person's other sessions.
    Result<void, Refused> changePassword(const Request& request, const NewPassword& given);

    Result<Account, Refused> add(const NewPerson& person, const std::string& by);
    // Ends the person's sessions.
    Result<Account, Refused> change(const std::string& name, const PersonChange& change,
                                    const std::string& by);
    Result<Account, Refused> unlock(const std::string& name, const std::string& by);
    Result<std::vector<Account>, Refused> list();

private:
    struct Row {
        Account account;
        std::string password;  // as it is kept
    };
    // Refusals of an address since the last record about it.
    struct FoldedRefusals {
        std::int64_t sinceMs = 0;
        std::int64_t count = 0;
        std::set<std::string> names;
    };

    People(const std::filesystem::path& file, Controller controller, Sessions& sessions,
           Sessions::Clock clock, Say warn);

    template <class Work>
    auto guarded(Work&& work) -> decltype(work());
    Result<void, Refused> note(const std::string& kind, Controller::Fields fields);
    template <class Change>
    Result<void, Refused> changeAndNote(Change&& change, const std::string& kind,
                                        Controller::Fields fields);
    std::optional<Row> find(const std::string& name);
    [[nodiscard]] Account shown(Account account) const;
    std::string hashed(const std::string& password);
    bool verified(const std::string& password, const std::string& kept);
    std::optional<Refused> mustWait(const std::string& name, const std::string& address);
    Refused refuse(const std::string& name, bool isKnown, bool hasLocked,
                   const std::string& address);
    void foldRefusal(const std::string& name, const std::string& address);
    void noteFolded(bool all);
    void noteRefusals(const std::string& address, std::int64_t count, std::set<std::string> names);

    Controller controller_;
    Sessions& sessions_;
    Sessions::Clock clock_;
    Say warn_;
    std::string nobody_;  // what an unknown name's password is compared with
    std::counting_semaphore<2> hashing_{2};

    std::mutex mutex_;  // of all that follows
    storage::Database database_;
    LoginLimiter failures_;
    std::map<std::string, FoldedRefusals> folded_;

    std::jthread thread_;  // records what was folded
};

}  // namespace jackpot::console
