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

namespace jackpot::console {
namespace {

constexpr int kVersion = 1;
constexpr std::size_t kMaxFolded = 1024;
constexpr std::size_t kMaxFoldedNames = 8;
constexpr const char* kElsewhere = "elsewhere";  // addresses beyond those that are kept apart

Refused wrongCredentials()
{
    return {401, "wrong_credentials", "the name, the password or the certificate is wrong"};
}

Refused unknownPerson() { return {404, "unknown_person", "there is no such person"}; }

std::string inSeconds(std::int64_t ms) { return std::to_string((ms + 999) / 1000); }

// SQLite would make it for everyone to read.
Result<void> makePrivate(const std::filesystem::path& file)
{
    const int made = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct stat status {};
    const bool fine = made >= 0 && ::fstat(made, &status) == 0;
    const std::string why = std::strerror(errno);
    if (made >= 0) ::close(made);
    if (!fine) return Error{file.string() + ": " + why};
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return Error{file.string() + ": others can read it: chmod 600 it"};
    return {};
}

class Turn {
public:
    explicit Turn(std::counting_semaphore<2>& semaphore) : semaphore_{semaphore}
    {
        semaphore_.acquire();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { semaphore_.release(); }

private:
    std::counting_semaphore<2>& semaphore_;
};

}  // namespace

Reply replyOf(const Refused& refused)
{
    Reply reply = errorReply(refused.status, refused.code, refused.message);
    if (refused.waitMs > 0) reply.headers["Retry-After"] = inSeconds(refused.waitMs);
    return reply;
}

Result<std::unique_ptr<People>> People::open(const std::filesystem::path& directory,
                                             Controller controller, Sessions& sessions,
                                             Sessions::Clock clock, Say warn)
{
    const std::filesystem::path file = directory / "people.db";
    if (auto made = makePrivate(file); !made) return made.error();
    try {
        return std::unique_ptr<People>{
            new People{file, std::move(controller), sessions, std::move(clock), std::move(warn)}};
    } catch (const storage::SqliteFailure& failure) {
        return Error{file.string() + ": " + failure.what()};
    }
}

People::People(const std::filesystem::path& file, Controller controller, Sessions& sessions,
               Sessions::Clock clock, Say warn)
    : controller_{std::move(controller)},
      sessions_{sessions},
      clock_{std::move(clock)},
      warn_{std::move(warn)},
      nobody_{hashPassword(randomHex(32))},
      database_{file.string(), storage::Database::Mode::ReadWrite}
{
    constexpr int kBusyMs = 2000;  // a backup reads it for a moment
    sqlite3_busy_timeout(database_.handle(), kBusyMs);
    database_.execute("PRAGMA synchronous=EXTRA");
    if (database_.number("PRAGMA user_version").value_or(0) == 0)
        database_.execute(
            "BEGIN;"
            "CREATE TABLE people(name TEXT PRIMARY KEY, role TEXT NOT NULL,"
            " password TEXT NOT NULL, certificate TEXT NOT NULL, disabled INTEGER NOT NULL,"
            " must_change_password INTEGER NOT NULL) STRICT;"
            "PRAGMA user_version=1;"
            "COMMIT");
    if (database_.number("PRAGMA user_version") != kVersion)
        throw storage::SqliteFailure{SQLITE_MISMATCH, "made by another version of this program"};
    thread_ = std::jthread{[this](const std::stop_token& stop) {
        std::mutex own;
        std::condition_variable_any changed;
        std::unique_lock lock{own};
        while (!stop.stop_requested()) {
            changed.wait_for(lock, stop, std::chrono::seconds{1}, [] { return false; });
            noteFolded(stop.stop_requested());
        }
    }};
}

People::~People() = default;

template <class Work>
auto People::guarded(Work&& work) -> decltype(work())
{
    try {
        return work();
    } catch (const storage::SqliteFailure& failure) {
        warn_(std::string{"people.db: "} + failure.what());
        return Refused{503, "people_unavailable", "the accounts cannot be read or written"};
    }
}

Result<void, Refused> People::note(const std::string& kind, Controller::Fields fields)
{
    if (auto noted = controller_.note(kind, std::move(fields)); !noted)
        return Refused{503, "journal_unavailable", noted.error().message};
    return {};
}

template <class Change>
Result<void, Refused> People::changeAndNote(Change&& change, const std::string& kind,
                                            Controller::Fields fields)
{
    database_.execute("BEGIN IMMEDIATE");
    try {
        change();
        if (auto noted = note(kind, std::move(fields)); !noted) {
            database_.execute("ROLLBACK");
            return noted;
        }
        database_.execute("COMMIT");
    } catch (const storage::SqliteFailure&) {
        sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
        throw;
    }
    return {};
}

std::optional<People::Row> People::find(const std::string& name)
{
    storage::Statement select = database_.prepare(
        "SELECT role, password, certificate, disabled, must_change_password FROM people"
        " WHERE name = ?");
    select.bindText(1, name);
    if (!select.step()) return std::nullopt;
    const auto role = roleOfId(select.text(0));
    if (!role) throw storage::SqliteFailure{SQLITE_CORRUPT, "an account has no role"};
    Row row;
    row.account = {name, *role, std::string{select.text(2)}, select.number(3) != 0,
                   select.number(4) != 0};
    row.password = select.text(1);
    return row;
}

People::Account People::shown(Account account) const
{
    account.lockedForMs = failures_.nameWaitMs(account.name, clock_());
    return account;
}

std::string People::hashed(const std::string& password)
{
    const Turn turn{hashing_};
    return hashPassword(password);
}

bool People::verified(const std::string& password, const std::string& kept)
{
    const Turn turn{hashing_};
    return isPassword(password, kept);
}

std::optional<Refused> People::mustWait(const std::string& name, const std::string& address)
{
    const std::int64_t now = clock_();
    if (const std::int64_t wait = failures_.addressWaitMs(address, now); wait > 0)
        return Refused{429, "too_many_failures",
                       "too many failures from this address: wait " + inSeconds(wait) + " s", wait};
    if (const std::int64_t wait = failures_.nameWaitMs(name, now); wait > 0)
        return Refused{429, "locked_out",
                       "locked after repeated failures: wait " + inSeconds(wait) +
                           " s, or have an administrator unlock it",
                       wait};
    return std::nullopt;
}

Refused People::refuse(const std::string& name, bool isKnown, bool hasLocked,
                       const std::string& address)
{
    foldRefusal(isKnown ? name : "", address);
    if (hasLocked && isKnown) {
        warn_("the desk: " + name + " is locked after repeated failures, the last from " + address);
        (void)note("person_locked_out", [name, address](storage::JsonText& json) {
            json.textField("who", name);
            json.textField("address", address);
            json.numberField("for_ms", LoginLimiter::kLockedMs);
        });
    }
    return wrongCredentials();
}

Result<People::SignedIn, Refused> People::signIn(const SignIn& given,
                                                 const std::string& certificate,
                                                 const std::string& address)
{
    return guarded([&]() -> Result<SignedIn, Refused> {
        std::optional<Row> row;
        bool hasLocked = false;
        bool showsCertificate = false;
        {
            const std::scoped_lock lock{mutex_};
            if (const auto wait = mustWait(given.name, address)) {
                foldRefusal(find(given.name) ? given.name : "", address);
                return *wait;
            }
            row = find(given.name);
            showsCertificate = !row || row->account.certificate.empty() ||
                               isSameSecret(row->account.certificate, certificate);
            // Who lacks the certificate cannot lock out the one who has it.
            if (showsCertificate) hasLocked = failures_.countName(given.name, clock_());
            failures_.countAddress(address, clock_());
        }
        const bool fits = verified(given.password, row ? row->password : nobody_);
        const std::string renewed =
            row && fits && isOutdated(row->password) ? hashed(given.password) : "";

        const std::scoped_lock lock{mutex_};
        const auto now = find(given.name);
        const bool good = fits && showsCertificate && row && now && !now->account.disabled &&
                          now->password == row->password &&
                          now->account.certificate == row->account.certificate;
        if (!good) return refuse(given.name, row.has_value(), hasLocked, address);
        failures_.forgiveName(given.name);
        failures_.forgiveAddress(address);
        const Account& account = now->account;
        if (auto noted = note("person_signed_in",
                              [account, address](storage::JsonText& json) {
                                  json.textField("who", account.name);
                                  json.textField("role", idOf(account.role));
                                  json.textField("address", address);
                                  json.boolField("certificate", !account.certificate.empty());
                              });
            !noted)
            return noted.error();
        if (!renewed.empty()) {
            storage::Statement update =
                database_.prepare("UPDATE people SET password = ? WHERE name = ?");
            update.bindText(1, renewed).bindText(2, account.name).run();
        }
        auto begun =
            sessions_.begin({account.name, account.role}, address, account.mustChangePassword);
        if (!begun) return Refused{503, "too_many_sessions", "too many people are signed in"};
        return SignedIn{std::move(*begun), account};
    });
}

Result<void, Refused> People::signOut(const Request& request)
{
    sessions_.end(request.session);
    return note("person_signed_out",
                [who = request.person.name, address = request.address](storage::JsonText& json) {
                    json.textField("who", who);
                    json.textField("address", address);
                });
}

Result<void, Refused> People::changePassword(const Request& request, const NewPassword& given)
{
    return guarded([&]() -> Result<void, Refused> {
        const std::string& name = request.person.name;
        if (const auto fine = checkPassword(given.password, name); !fine)
            return Refused{400, "weak_password", fine.error().message};
        if (given.password == given.old)
            return Refused{400, "weak_password", "the new password is the old one"};
        std::optional<Row> row;
        bool hasLocked = false;
        {
            const std::scoped_lock lock{mutex_};
            if (const auto wait = mustWait(name, request.address)) return *wait;
            row = find(name);
            if (!row) return unknownPerson();
            hasLocked = failures_.countName(name, clock_());
            failures_.countAddress(request.address, clock_());
        }
        if (!verified(given.old, row->password)) {
            const std::scoped_lock lock{mutex_};
            (void)refuse(name, true, hasLocked, request.address);
            return Refused{403, "wrong_password", "the old password is wrong"};
        }
        const std::string kept = hashed(given.password);
        const std::scoped_lock lock{mutex_};
        const auto now = find(name);
        if (!now || now->password != row->password)
            return Refused{409, "changed_meanwhile", "the password was changed meanwhile"};
        failures_.forgiveName(name);
        failures_.forgiveAddress(request.address);
        auto changed = changeAndNote(
            [&] {
                storage::Statement update = database_.prepare(
                    "UPDATE people SET password = ?, must_change_password = 0 WHERE name = ?");
                update.bindText(1, kept).bindText(2, name).run();
            },
            "person_changed",
            [name](storage::JsonText& json) {
                json.textField("who", name);
                json.textField("by", name);
                json.boolField("password", true);
            });
        if (!changed) return changed;
        sessions_.endAllOf(name, request.session);
        sessions_.passwordChanged(request.session);
        return {};
    });
}

Result<People::Account, Refused> People::add(const NewPerson& person, const std::string& by)
{
    return guarded([&]() -> Result<Account, Refused> {
        const std::string kept = hashed(person.password);
        const std::scoped_lock lock{mutex_};
        if (find(person.name))
            return Refused{409, "name_taken",
                           "there is a person of this name; names are never used again"};
        if (database_.number("SELECT count(*) FROM people") >=
            static_cast<std::int64_t>(kMaxPeople))
            return Refused{409, "too_many_people", "there are too many people"};
        const Account account{person.name, person.role, person.certificate, false,
                              person.mustChangePassword};
        auto added = changeAndNote(
            [&] {
                storage::Statement insert =
                    database_.prepare("INSERT INTO people VALUES(?, ?, ?, ?, 0, ?)");
                insert.bindText(1, account.name)
                    .bindText(2, idOf(account.role))
                    .bindText(3, kept)
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

Result<People::Account, Refused> People::change(const std::string& name, const PersonChange& change,
                                                const std::string& by)
{
    return guarded([&]() -> Result<Account, Refused> {
        std::string kept;
        if (change.password) {
            if (const auto fine = checkPassword(*change.password, name); !fine)
                return Refused{400, "weak_password", fine.error().message};
            kept = hashed(*change.password);
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
        // So there is always an administrator left.
        if (by == name && (after.role != row->account.role || after.disabled))
            return Refused{409, "own_account",
                           "nobody changes the own role or disables the own account"};
        const bool disables = after.disabled && !row->account.disabled;
        auto changed = changeAndNote(
            [&] {
                storage::Statement update = database_.prepare(
                    "UPDATE people SET role = ?, password = ?, certificate = ?, disabled = ?,"
                    " must_change_password = ? WHERE name = ?");
                update.bindText(1, idOf(after.role))
                    .bindText(2, kept.empty() ? row->password : kept)
                    .bindText(3, after.certificate)
                    .bind(4, after.disabled ? 1 : 0)
                    .bind(5, after.mustChangePassword ? 1 : 0)
                    .bindText(6, name)
                    .run();
            },
            disables ? "person_disabled" : "person_changed",
            [after, before = row->account, by, password = !kept.empty()](storage::JsonText& json) {
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
        sessions_.endAllOf(name);
        return shown(after);
    });
}

Result<People::Account, Refused> People::unlock(const std::string& name, const std::string& by)
{
    return guarded([&]() -> Result<Account, Refused> {
        const std::scoped_lock lock{mutex_};
        const auto row = find(name);
        if (!row) return unknownPerson();
        if (auto noted = note("person_unlocked",
                              [name, by](storage::JsonText& json) {
                                  json.textField("who", name);
                                  json.textField("by", by);
                              });
            !noted)
            return noted.error();
        failures_.forgiveName(name);
        return row->account;
    });
}

Result<std::vector<People::Account>, Refused> People::list()
{
    return guarded([&]() -> Result<std::vector<Account>, Refused> {
        const std::scoped_lock lock{mutex_};
        storage::Statement select = database_.prepare(
            "SELECT name, role, certificate, disabled, must_change_password FROM people"
            " ORDER BY name");
        std::vector<Account> accounts;
        while (select.step())
            accounts.push_back(shown(
                {std::string{select.text(0)}, roleOfId(select.text(1)).value_or(Role::Auditor),
                 std::string{select.text(2)}, select.number(3) != 0, select.number(4) != 0}));
        return accounts;
    });
}

// The first is recorded at once, the others of a minute together. A name that nobody has may be a
// password in the wrong field, so it is not kept.
void People::foldRefusal(const std::string& name, const std::string& address)
{
    const std::string network = networkOf(address);
    const bool isKept = folded_.contains(network) || folded_.size() < kMaxFolded;
    const std::string key = isKept ? network : kElsewhere;
    const auto [at, isNew] = folded_.try_emplace(key, FoldedRefusals{clock_(), 0, {}});
    if (isNew) {
        noteRefusals(key, 1, name.empty() ? std::set<std::string>{} : std::set{name});
        return;
    }
    ++at->second.count;
    if (!name.empty() && at->second.names.size() < kMaxFoldedNames) at->second.names.insert(name);
}

void People::noteFolded(bool all)
{
    const std::scoped_lock lock{mutex_};
    const std::int64_t now = clock_();
    for (auto at = folded_.begin(); at != folded_.end();) {
        auto& [address, folded] = *at;
        if (!all && now - folded.sinceMs < kFoldMs) {
            ++at;
        } else if (folded.count == 0) {
            at = folded_.erase(at);
        } else {
            noteRefusals(address, folded.count, std::move(folded.names));
            folded = {now, 0, {}};
            ++at;
        }
    }
}

void People::noteRefusals(const std::string& address, std::int64_t count,
                          std::set<std::string> names)
{
    (void)note("sign_in_refused",
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
