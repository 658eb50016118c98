#include "console/people/people.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>

#include "console/people/passwords.h"
#include "storage/file_names.h"

namespace jackpot::console {
namespace {

constexpr int kVersion = 1;
constexpr std::size_t kMaxRefusalAddresses = 1024;
constexpr std::size_t kMaxRefusalNames = 8;
// Stands for all addresses beyond the first kMaxRefusalAddresses.
constexpr const char* kOtherAddresses = "elsewhere";

PeopleError wrongCredentials()
{
    return {401, "wrong_credentials", "the name, the password or the certificate is wrong"};
}

PeopleError unknownPerson() { return {404, "unknown_person", "there is no person of this name"}; }

std::string inSeconds(std::int64_t ms) { return std::to_string((ms + 999) / 1000); }

// SQLite would create the file readable for everyone.
Result<void> makePrivate(const std::filesystem::path& file)
{
    const int made = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct stat status {};
    const bool fine = made >= 0 && ::fstat(made, &status) == 0;
    const std::string why = std::strerror(errno);
    if (made >= 0) ::close(made);
    if (!fine) return Error{file.string() + ": " + why};
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return Error{file.string() + ": other users can read it; run chmod 600 on it"};
    return {};
}

// Nothing if another version of jackpotd made the file.
std::optional<storage::Database> openFile(const std::filesystem::path& file)
{
    storage::Database database{file.string(), storage::Database::Mode::ReadWrite};
    sqlite3_busy_timeout(database.handle(), storage::kBusyMs);  // while a backup reads the file
    database.execute("PRAGMA synchronous=EXTRA");
    if (database.number("PRAGMA user_version").value_or(0) == 0)
        database.execute(
            "BEGIN;"
            "CREATE TABLE people(name TEXT PRIMARY KEY, role TEXT NOT NULL,"
            " password TEXT NOT NULL, certificate TEXT NOT NULL, disabled INTEGER NOT NULL,"
            " must_change_password INTEGER NOT NULL) STRICT;"
            "PRAGMA user_version=1;"
            "COMMIT");
    if (database.number("PRAGMA user_version") != kVersion) return std::nullopt;
    return database;
}

class HashingSlot {
public:
    explicit HashingSlot(std::counting_semaphore<2>& semaphore) : semaphore_{semaphore}
    {
        semaphore_.acquire();
    }
    HashingSlot(const HashingSlot&) = delete;
    HashingSlot& operator=(const HashingSlot&) = delete;
    ~HashingSlot() { semaphore_.release(); }

private:
    std::counting_semaphore<2>& semaphore_;
};

}  // namespace

Reply replyOf(const PeopleError& error)
{
    Reply reply = errorReply(error.status, error.code, error.message);
    if (error.waitMs > 0) reply.headers["Retry-After"] = inSeconds(error.waitMs);
    return reply;
}

Result<std::unique_ptr<People>> People::open(const std::filesystem::path& directory,
                                             AppendEvent appendEvent, Sessions& sessions,
                                             Sessions::Clock clock, LogWarning logWarning)
{
    const std::filesystem::path file = directory / storage::kPeopleName;
    if (auto made = makePrivate(file); !made) return made.error();
    auto database = storage::runSqlite([&] { return openFile(file); });
    if (!database) return Error{file.string() + ": " + database.error().message};
    if (!*database)
        return Error{file.string() + ": the file was made by another version of jackpotd"};
    return std::unique_ptr<People>{new People{std::move(**database), std::move(appendEvent),
                                              sessions, std::move(clock), std::move(logWarning)}};
}

People::People(storage::Database database, AppendEvent appendEvent, Sessions& sessions,
               Sessions::Clock clock, LogWarning logWarning)
    : appendEvent_{std::move(appendEvent)},
      sessions_{sessions},
      clock_{std::move(clock)},
      logWarning_{std::move(logWarning)},
      dummyHash_{hashPassword(randomHex(32))},
      database_{std::move(database)}
{
    thread_ = std::jthread{[this](const std::stop_token& stop) {
        std::mutex own;
        std::condition_variable_any changed;
        std::unique_lock lock{own};
        while (!stop.stop_requested()) {
            changed.wait_for(lock, stop, std::chrono::seconds{1}, [] { return false; });
            recordRefusals(stop.stop_requested());
        }
    }};
}

People::~People() = default;

template <class Work>
auto People::guarded(Work&& work) -> decltype(work())
{
    auto done = storage::runSqlite(work);
    if (done) return std::move(*done);
    logWarning_("people.db: " + done.error().message);
    return PeopleError{503, "people_unavailable",
                       "people.db cannot be read or written; the daemon's log has the reason"};
}

Result<void, PeopleError> People::appendEvent(const std::string& kind, EventFields fields)
{
    if (auto appended = appendEvent_(kind, std::move(fields)); !appended)
        return PeopleError{503, "journal_unavailable", appended.error().message};
    return {};
}

template <class Change>
Result<void, PeopleError> People::changeAndAppendEvent(Change&& change, const std::string& kind,
                                                       EventFields fields)
{
    database_.execute("BEGIN IMMEDIATE");
    auto done = storage::runSqlite([&]() -> Result<void, PeopleError> {
        change();
        if (auto appended = appendEvent(kind, std::move(fields)); !appended) {
            database_.execute("ROLLBACK");
            return appended;
        }
        database_.execute("COMMIT");
        return {};
    });
    if (!done) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    return storage::orThrow(std::move(done));
}

std::optional<People::Row> People::find(const std::string& name)
{
    storage::Statement select = database_.prepare(
        "SELECT role, password, certificate, disabled, must_change_password FROM people"
        " WHERE name = ?");
    select.bindText(1, name);
    if (!select.step()) return std::nullopt;
    const auto role = roleOfId(select.text(0));
    if (!role) storage::throwDamaged("an account has no role");
    Row row;
    row.account = {name, *role, std::string{select.text(2)}, select.number(3) != 0,
                   select.number(4) != 0};
    row.passwordHash = select.text(1);
    return row;
}

People::Account People::withLockTime(Account account) const
{
    account.lockedForMs = loginLimiter_.nameWaitMs(account.name, clock_());
    return account;
}

std::string People::hash(const std::string& password)
{
    const HashingSlot slot{hashing_};
    return hashPassword(password);
}

bool People::matches(const std::string& password, const std::string& passwordHash)
{
    const HashingSlot slot{hashing_};
    return verifyPassword(password, passwordHash);
}

std::optional<PeopleError> People::findWait(const std::string& name, const std::string& address)
{
    const std::int64_t now = clock_();
    if (const std::int64_t wait = loginLimiter_.addressWaitMs(address, now); wait > 0)
        return PeopleError{
            429, "too_many_failures",
            "too many failed sign-ins from this address; wait " + inSeconds(wait) + " s", wait};
    if (const std::int64_t wait = loginLimiter_.nameWaitMs(name, now); wait > 0)
        return PeopleError{429, "locked_out",
                           "the account is locked after repeated failed sign-ins; wait " +
                               inSeconds(wait) + " s, or ask an administrator to unlock it",
                           wait};
    return std::nullopt;
}

PeopleError People::rejectSignIn(const std::string& name, bool isKnown, bool hasLocked,
                                 const std::string& address)
{
    countRefusal(isKnown ? name : "", address);
    if (hasLocked && isKnown) {
        logWarning_("desk: the account " + name +
                    " is locked for 15 minutes after repeated failed sign-ins, the last from " +
                    address + "; an administrator can unlock it");
        (void)appendEvent("person_locked_out", [name, address](storage::JsonText& json) {
            json.textField("who", name);
            json.textField("address", address);
            json.numberField("for_ms", LoginLimiter::kLockMs);
        });
    }
    return wrongCredentials();
}

Result<People::SignInResult, PeopleError> People::signIn(const Credentials& given,
                                                         const std::string& certificate,
                                                         const std::string& address)
{
    return guarded([&]() -> Result<SignInResult, PeopleError> {
        std::optional<Row> row;
        bool hasLocked = false;
        bool showsCertificate = false;
        {
            const std::scoped_lock lock{mutex_};
            if (const auto wait = findWait(given.name, address)) {
                countRefusal(find(given.name) ? given.name : "", address);
                return *wait;
            }
            row = find(given.name);
            showsCertificate = !row || row->account.certificate.empty() ||
                               isSameSecret(row->account.certificate, certificate);
            // Without the certificate, an attempt does not count towards locking the account.
            if (showsCertificate) hasLocked = loginLimiter_.countNameAttempt(given.name, clock_());
            loginLimiter_.countAddressAttempt(address, clock_());
        }
        const bool fits = matches(given.password, row ? row->passwordHash : dummyHash_);
        const std::string renewed =
            row && fits && needsRehash(row->passwordHash) ? hash(given.password) : "";

        const std::scoped_lock lock{mutex_};
        const auto current = find(given.name);
        const bool good = fits && showsCertificate && row && current &&
                          !current->account.disabled &&
                          current->passwordHash == row->passwordHash &&
                          current->account.certificate == row->account.certificate;
        if (!good) return rejectSignIn(given.name, row.has_value(), hasLocked, address);
        loginLimiter_.clearName(given.name);
        loginLimiter_.cancelAddressAttempt(address);
        const Account& account = current->account;
        if (auto appended = appendEvent("person_signed_in",
                                        [account, address](storage::JsonText& json) {
                                            json.textField("who", account.name);
                                            json.textField("role", idOf(account.role));
                                            json.textField("address", address);
                                            json.boolField("certificate",
                                                           !account.certificate.empty());
                                        });
            !appended)
            return appended.error();
        if (!renewed.empty()) {
            storage::Statement update =
                database_.prepare("UPDATE people SET password = ? WHERE name = ?");
            update.bindText(1, renewed).bindText(2, account.name).run();
        }
        auto session =
            sessions_.begin({account.name, account.role}, address, account.mustChangePassword);
        if (!session)
            return PeopleError{503, "too_many_sessions",
                               "too many people are signed in; try again later"};
        return SignInResult{std::move(*session), account};
    });
}

Result<void, PeopleError> People::signOut(const Request& request)
{
    sessions_.end(request.session);
    return appendEvent("person_signed_out", [who = request.person.name,
                                             address = request.address](storage::JsonText& json) {
        json.textField("who", who);
        json.textField("address", address);
    });
}

Result<void, PeopleError> People::changePassword(const Request& request, const NewPassword& given)
{
    return guarded([&]() -> Result<void, PeopleError> {
        const std::string& name = request.person.name;
        if (const auto fine = checkPassword(given.password, name); !fine)
            return PeopleError{400, "weak_password", fine.error().message};
        if (given.password == given.old)
            return PeopleError{400, "weak_password", "the new password is the same as the old one"};
        std::optional<Row> row;
        bool hasLocked = false;
        {
            const std::scoped_lock lock{mutex_};
            if (const auto wait = findWait(name, request.address)) return *wait;
            row = find(name);
            if (!row) return unknownPerson();
            hasLocked = loginLimiter_.countNameAttempt(name, clock_());
            loginLimiter_.countAddressAttempt(request.address, clock_());
        }
        if (!matches(given.old, row->passwordHash)) {
            const std::scoped_lock lock{mutex_};
            (void)rejectSignIn(name, true, hasLocked, request.address);
            return PeopleError{403, "wrong_password", "the old password is wrong"};
        }
        const std::string newHash = hash(given.password);
        const std::scoped_lock lock{mutex_};
        const auto current = find(name);
        if (!current || current->passwordHash != row->passwordHash)
            return PeopleError{409, "changed_meanwhile",
                               "the password was changed in the meantime; try again"};
        loginLimiter_.clearName(name);
        loginLimiter_.cancelAddressAttempt(request.address);
        auto changed = changeAndAppendEvent(
            [&] {
                storage::Statement update = database_.prepare(
                    "UPDATE people SET password = ?, must_change_password = 0 WHERE name = ?");
                update.bindText(1, newHash).bindText(2, name).run();
            },
            "person_changed",
            [name](storage::JsonText& json) {
                json.textField("who", name);
                json.textField("by", name);
                json.boolField("password", true);
            });
        if (!changed) return changed;
        sessions_.endAllOfPerson(name, request.session);
        sessions_.markPasswordChanged(request.session);
        return {};
    });
}

Result<People::Account, PeopleError> People::add(const NewPerson& person, const std::string& by)
{
    return guarded([&]() -> Result<Account, PeopleError> {
        const std::string newHash = hash(person.password);
        const std::scoped_lock lock{mutex_};
        if (find(person.name))
            return PeopleError{409, "name_taken",
                               "a person has or had this name; names are never reused"};
        if (database_.number("SELECT count(*) FROM people") >=
            static_cast<std::int64_t>(kMaxPeople))
            return PeopleError{409, "too_many_people",
                               "there are 10000 accounts, which is the maximum"};
        const Account account{person.name, person.role, person.certificate, false,
                              person.mustChangePassword};
        auto added = changeAndAppendEvent(
            [&] {
                storage::Statement insert =
                    database_.prepare("INSERT INTO people VALUES(?, ?, ?, ?, 0, ?)");
                insert.bindText(1, account.name)
                    .bindText(2, idOf(account.role))
                    .bindText(3, newHash)
                    .bindText(4, account.certificate)
                    .bind(5, account.mustChangePassword ? 1 : 0)
                    .run();
            },
            "person_added",
            [account, by](storage::JsonText& json) {
                json.textField("who", account.name);
                json.textField("by", by);
                json.textField("role", idOf(account.role));
                if (!account.certificate.empty())
                    json.textField("certificate", account.certificate);
            });
        if (!added) return added.error();
        return account;
    });
}

Result<People::Account, PeopleError> People::change(const std::string& name,
                                                    const PersonChange& change,
                                                    const std::string& by)
{
    return guarded([&]() -> Result<Account, PeopleError> {
        std::string newHash;
        if (change.password) {
            if (const auto fine = checkPassword(*change.password, name); !fine)
                return PeopleError{400, "weak_password", fine.error().message};
            newHash = hash(*change.password);
        }
        const std::scoped_lock lock{mutex_};
        const auto row = find(name);
        if (!row) return unknownPerson();
        Account after = row->account;
        after.role = change.role.value_or(after.role);
        after.certificate = change.certificate.value_or(after.certificate);
        after.disabled = change.disabled.value_or(after.disabled);
        after.mustChangePassword = change.mustChangePassword.value_or(change.password.has_value() ||
                                                                      after.mustChangePassword);
        // An administrator cannot remove the last administrator.
        if (by == name && (after.role != row->account.role || after.disabled))
            return PeopleError{409, "own_account",
                               "you cannot change your own role or disable your own account"};
        const bool disables = after.disabled && !row->account.disabled;
        auto changed = changeAndAppendEvent(
            [&] {
                storage::Statement update = database_.prepare(
                    "UPDATE people SET role = ?, password = ?, certificate = ?, disabled = ?,"
                    " must_change_password = ? WHERE name = ?");
                update.bindText(1, idOf(after.role))
                    .bindText(2, newHash.empty() ? row->passwordHash : newHash)
                    .bindText(3, after.certificate)
                    .bind(4, after.disabled ? 1 : 0)
                    .bind(5, after.mustChangePassword ? 1 : 0)
                    .bindText(6, name)
                    .run();
            },
            disables ? "person_disabled" : "person_changed",
            [after, before = row->account, by,
             password = !newHash.empty()](storage::JsonText& json) {
                json.textField("who", after.name);
                json.textField("by", by);
                if (after.role != before.role) {
                    json.textField("role_before", idOf(before.role));
                    json.textField("role", idOf(after.role));
                }
                if (after.certificate != before.certificate)
                    json.textField("certificate", after.certificate);
                if (after.disabled != before.disabled) json.boolField("disabled", after.disabled);
                if (password) json.boolField("password", true);
            });
        if (!changed) return changed.error();
        sessions_.endAllOfPerson(name);
        return withLockTime(after);
    });
}

Result<People::Account, PeopleError> People::unlock(const std::string& name, const std::string& by)
{
    return guarded([&]() -> Result<Account, PeopleError> {
        const std::scoped_lock lock{mutex_};
        const auto row = find(name);
        if (!row) return unknownPerson();
        if (auto appended = appendEvent("person_unlocked",
                                        [name, by](storage::JsonText& json) {
                                            json.textField("who", name);
                                            json.textField("by", by);
                                        });
            !appended)
            return appended.error();
        loginLimiter_.clearName(name);
        return row->account;
    });
}

Result<std::vector<People::Account>, PeopleError> People::list()
{
    return guarded([&]() -> Result<std::vector<Account>, PeopleError> {
        const std::scoped_lock lock{mutex_};
        storage::Statement select = database_.prepare(
            "SELECT name, role, certificate, disabled, must_change_password FROM people"
            " ORDER BY name");
        std::vector<Account> accounts;
        while (select.step())
            accounts.push_back(withLockTime(
                {std::string{select.text(0)}, roleOfId(select.text(1)).value_or(Role::Auditor),
                 std::string{select.text(2)}, select.number(3) != 0, select.number(4) != 0}));
        return accounts;
    });
}

// The first refusal of an address is recorded at once, further ones together after
// kRefusalIntervalMs. An unknown name is not stored: it may be a password typed into the wrong
// field.
void People::countRefusal(const std::string& name, const std::string& address)
{
    const std::string network = networkOf(address);
    const bool isKept = refusals_.contains(network) || refusals_.size() < kMaxRefusalAddresses;
    const std::string key = isKept ? network : kOtherAddresses;
    const auto [at, isNew] = refusals_.try_emplace(key, RefusalCount{clock_(), 0, {}});
    if (isNew) {
        appendRefusalEvent(key, 1, name.empty() ? std::set<std::string>{} : std::set{name});
        return;
    }
    ++at->second.count;
    if (!name.empty() && at->second.names.size() < kMaxRefusalNames) at->second.names.insert(name);
}

void People::recordRefusals(bool all)
{
    const std::scoped_lock lock{mutex_};
    const std::int64_t now = clock_();
    for (auto at = refusals_.begin(); at != refusals_.end();) {
        auto& [address, refused] = *at;
        if (!all && now - refused.sinceMs < kRefusalIntervalMs) {
            ++at;
        } else if (refused.count == 0) {
            at = refusals_.erase(at);
        } else {
            appendRefusalEvent(address, refused.count, std::move(refused.names));
            refused = {now, 0, {}};
            ++at;
        }
    }
}

void People::appendRefusalEvent(const std::string& address, std::int64_t count,
                                std::set<std::string> names)
{
    (void)appendEvent("sign_in_refused",
                      [address, count, names = std::move(names)](storage::JsonText& json) {
                          json.textField("address", address);
                          json.numberField("count", count);
                          json.key("names");
                          json.beginArray();
                          for (const std::string& name : names) json.text(name);
                          json.endArray();
                      });
}

}  // namespace jackpot::console
