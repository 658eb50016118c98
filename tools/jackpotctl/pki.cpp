#include "tools/jackpotctl/pki.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <sstream>

#include "config/identifiers.h"
#include "tools/cli/command_error.h"
#include "tools/cli/read_file.h"

namespace jackpot::ctl::pki {
namespace {

using audit::systemError;
namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = 64U << 10U;
constexpr std::size_t kMaxIndexBytes = 64U << 20U;
constexpr std::size_t kMaxNameBytes = 64;  // X.520: a common name's upper bound
constexpr mode_t kPrivate = S_IRUSR | S_IWUSR;
constexpr mode_t kPublic = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;
constexpr std::string_view kIndexTitle = "# serial kind name not-after revoked-at reason";
constexpr std::string_view kStaged = ".new";
constexpr std::string_view kIssued = "issued";

[[noreturn]] void refuse(const std::string& message)
{
    throw cli::CommandError{cli::kBadInput, message};
}

[[noreturn]] void failed(const fs::path& file, std::string_view what)
{
    const int error = errno;
    refuse(file.string() + ": cannot " + std::string{what} + ": " + systemError(error));
}

void syncDirectory(const fs::path& directory)
{
    const fs::path name = directory.empty() ? "." : directory;
    const Descriptor opened{::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (opened.number() < 0 || ::fsync(opened.number()) != 0) failed(name, "be synced");
}

// Writes and syncs a new file; its directory entry is not synced yet. Replaces a file that an
// interrupted command left.
void writeNew(const fs::path& file, std::string_view contents, mode_t mode)
{
    if (::unlink(file.c_str()) != 0 && errno != ENOENT) failed(file, "be replaced");
    const Descriptor out{
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kPrivate)};
    if (out.number() < 0) failed(file, "be created");
    while (!contents.empty()) {
        const ssize_t written = ::write(out.number(), contents.data(), contents.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) failed(file, "be written");
        contents.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fchmod(out.number(), mode) != 0 || ::fsync(out.number()) != 0) failed(file, "be written");
}

void moveOver(const fs::path& from, const fs::path& to)
{
    if (::rename(from.c_str(), to.c_str()) != 0) failed(to, "be replaced");
}

// Replaces the file atomically: it has its old contents or the new ones.
void writeWhole(const fs::path& file, std::string_view contents, mode_t mode)
{
    const fs::path temporary = file.parent_path() / ("." + file.filename().string() + ".tmp");
    writeNew(temporary, contents, mode);
    moveOver(temporary, file);
    syncDirectory(file.parent_path());
}

bool isThere(const fs::path& file)
{
    std::error_code ignored;
    return fs::exists(fs::symlink_status(file, ignored));
}

std::string issuedName(const std::string& serial) { return serial + ".pem"; }

bool isHex(std::string_view text)
{
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<Entry> entryOf(const std::string& line)
{
    std::istringstream in{line};
    std::array<std::string, 6> fields;
    for (std::string& field : fields)
        if (!(in >> field)) return std::nullopt;
    if (std::string more; in >> more) return std::nullopt;
    const auto& [serial, kindId, name, notAfter, revokedAt, reasonId] = fields;
    const auto kind = kindOfId(kindId);
    const auto until = fromUtc(notAfter);
    if (serial.size() != 32 || !isHex(serial) || !kind || !until || !checkName(*kind, name))
        return std::nullopt;
    Entry entry{serial, *kind, name, *until, std::nullopt};
    if (revokedAt == "-" && reasonId == "-") return entry;
    const auto at = fromUtc(revokedAt);
    const auto reason = reasonOfId(reasonId);
    if (!at || !reason) return std::nullopt;
    entry.revoked = Revoked{serial, *at, *reason};
    return entry;
}

std::string lineOf(const Entry& entry)
{
    std::string line = entry.serial + " " + std::string{idOf(entry.kind)} + " " + entry.name + " " +
                       inUtc(entry.notAfter);
    if (!entry.revoked) return line + " - -\n";
    return line + " " + inUtc(entry.revoked->at) + " " + std::string{idOf(entry.revoked->reason)} +
           "\n";
}

bool isOf(const Entry& entry, Kind kind, std::string_view name)
{
    return entry.kind == kind && entry.name == name;
}

std::string described(Kind kind, const std::string& name)
{
    return std::string{idOf(kind)} + " " + name;
}

void mustBeName(Kind kind, const std::string& name)
{
    if (const auto fine = checkName(kind, name); !fine) refuse(fine.error().message);
}

void makeDirectory(const fs::path& directory)
{
    if (::mkdir(directory.c_str(), S_IRWXU) != 0) failed(directory, "be created");
}

// Removes an unfinished authority, unless it was renamed to its final name.
struct Scaffold {
    fs::path directory;
    ~Scaffold()
    {
        std::error_code ignored;
        if (!directory.empty()) fs::remove_all(directory, ignored);
    }
};

}  // namespace

std::string inUtc(Seconds seconds)
{
    const auto time = static_cast<time_t>(seconds);
    std::tm parts{};
    gmtime_r(&time, &parts);
    std::array<char, 32> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::optional<Seconds> fromUtc(const std::string& text)
{
    std::tm parts{};
    const char* const end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (!end || *end != '\0') return std::nullopt;
    return timegm(&parts);
}

Result<void> checkName(Kind kind, std::string_view name)
{
    if (kind == Kind::Table) return config::checkId(name);
    // Checks the characters of the name in pieces of an id's length.
    bool fine = !name.empty() && name.size() <= kMaxNameBytes && config::checkId(name.substr(0, 1));
    for (std::size_t i = 0; fine && i < name.size(); ++i)
        fine = static_cast<bool>(config::checkId("a" + std::string{name.substr(i, 1)}));
    if (fine) return {};
    return Error{config::inQuotes(name) + " is not a name: it takes 1 to " +
                 std::to_string(kMaxNameBytes) +
                 " letters, digits, \"-\", \"_\" or \".\", the first a letter or digit"};
}

Descriptor::~Descriptor()
{
    if (number_ >= 0) ::close(number_);
}

void Authority::init(const fs::path& directory, const std::string& serverName,
                     const IssueOptions& options, Seconds now)
{
    mustBeName(Kind::Server, serverName);
    const fs::path whole = directory.has_filename() ? directory : directory.parent_path();
    std::error_code ignored;
    if (isThere(whole / "ca.pem"))
        refuse(whole.string() + ": there is an authority already; issue with it, or name another " +
               "directory with --dir");
    if (isThere(whole) && !fs::is_empty(whole, ignored))
        refuse(whole.string() + ": is not an empty directory; name another with --dir");

    std::string pattern = (whole.parent_path() / ".jackpot-pki-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) failed(whole, "be created");
    Scaffold scaffold{pattern};
    const fs::path& made = scaffold.directory;
    for (const std::string_view name :
         {idOf(Kind::Server), idOf(Kind::Table), idOf(Kind::Operator), kIssued})
        makeDirectory(made / name);
    const Pair pair = Issuer::makeAuthority(now, now + kAuthorityDays * kDay);
    writeWhole(made / "ca.key", pair.key, kPrivate);
    writeWhole(made / "ca.pem", pair.certificate, kPublic);
    writeWhole(made / "index", std::string{kIndexTitle} + "\n", kPrivate);
    Authority{made, For::Changing}.issue(Kind::Server, serverName, options, now);

    if (::rename(made.c_str(), whole.c_str()) != 0) {
        if (errno == ENOTEMPTY || errno == EEXIST)
            refuse(whole.string() + ": another process has just created it; nothing was changed");
        failed(whole, "be created");
    }
    scaffold.directory.clear();
    syncDirectory(whole.parent_path());
}

Authority::Authority(fs::path directory, For use)
    : directory_{std::move(directory)},
      lock_{::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)}
{
    if (lock_.number() < 0 && (errno == ENOENT || errno == ENOTDIR))
        refuse(directory_.string() +
               ": there is no authority here; make one with jackpotctl pki init, or name its "
               "directory with --dir");
    if (lock_.number() < 0) failed(directory_, "be opened");
    while (::flock(lock_.number(), use == For::Changing ? LOCK_EX : LOCK_SH) != 0)
        if (errno != EINTR) failed(directory_, "be locked");
    readIndex();
    if (use == For::Changing) finishInterrupted();
}

fs::path Authority::fileOf(Kind kind, const std::string& name, std::string_view suffix) const
{
    return directory_ / idOf(kind) / (name + std::string{suffix});
}

Issuer Authority::issuer() const
{
    const fs::path file = directory_ / "ca.key";
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) failed(file, "be read");
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        refuse(file.string() +
               ": other users may read it; run chmod 600, and consider whether the key is known to "
               "others");
    std::string key = cli::readFile(file, kMaxFileBytes);
    auto made = Issuer::fromPem(cli::readFile(directory_ / "ca.pem", kMaxFileBytes), key);
    OPENSSL_cleanse(key.data(), key.size());
    if (!made) refuse(directory_.string() + ": " + made.error().message);
    return std::move(*made);
}

void Authority::readIndex()
{
    const fs::path file = directory_ / "index";
    if (!isThere(file))
        refuse(directory_.string() +
               ": there is no authority here (no index); make one with jackpotctl pki init, or "
               "name its directory with --dir");
    std::istringstream in{cli::readFile(file, kMaxIndexBytes)};
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (number == 1 && line == kIndexTitle) continue;
        const auto entry = entryOf(line);
        if (number == 1 || !entry)
            refuse(file.string() + ":" + std::to_string(number) +
                   ": not a line of this program; put the file back from a backup");
        entries_.push_back(*entry);
    }
    if (number == 0) refuse(file.string() + ": is empty; put the file back from a backup");
}

void Authority::writeIndex(const std::vector<Entry>& entries)
{
    std::string text = std::string{kIndexTitle} + "\n";
    for (const Entry& entry : entries) text += lineOf(entry);
    writeWhole(directory_ / "index", text, kPrivate);
    entries_ = entries;
}

// A staged certificate that the index knows was issued: its files get their names. Any other was
// never issued. The key gets its name first, so that the staged certificate always shows an
// unfinished command.
void Authority::finishInterrupted()
{
    for (const Kind kind : {Kind::Server, Kind::Table, Kind::Operator}) {
        const fs::path folder = directory_ / idOf(kind);
        std::vector<fs::path> staged;
        std::error_code error;
        for (const fs::directory_entry& each : fs::directory_iterator{folder, error})
            if (each.path().extension() == kStaged) staged.push_back(each.path());
        if (error) refuse(folder.string() + ": cannot be read: " + error.message());
        for (const fs::path& file : staged) {
            if (file.stem().extension() != ".pem") continue;
            const auto facts = factsOfCertificate(cli::readFile(file, kMaxFileBytes));
            const bool issued = facts && std::ranges::find(entries_, facts->serial,
                                                           &Entry::serial) != entries_.end();
            if (!issued) continue;
            fs::path key = file;
            key.replace_filename(file.stem().stem().string() + ".key" + std::string{kStaged});
            if (isThere(key)) moveOver(key, folder / key.stem());
            moveOver(file, folder / file.stem());
        }
        for (const fs::path& file : staged)
            if (::unlink(file.c_str()) != 0 && errno != ENOENT) failed(file, "be removed");
        if (!staged.empty()) syncDirectory(folder);
    }
}

Entry Authority::make(Kind kind, const std::string& name, const IssueOptions& options,
                      std::vector<Entry> entries, Seconds now)
{
    LeafRequest request{kind, name, options.hosts, now, 0};
    if (kind == Kind::Server && request.hosts.empty())
        request.hosts = {"localhost", "127.0.0.1", "::1"};
    if (kind != Kind::Server && !request.hosts.empty())
        refuse("--host is for servers: a " + std::string{idOf(kind)} + " is known by its name");
    for (const std::string& host : request.hosts)
        if (!isHost(host)) refuse("--host " + host + ": takes a DNS name or an IP address");
    const Issuer authority = issuer();
    request.notAfter =
        now + options.days.value_or(kind == Kind::Server ? kServerDays : kClientDays) * kDay;
    if (request.notAfter > authority.notAfter())
        refuse("the certificate would outlive its authority, which expires on " +
               inUtc(authority.notAfter()) + "; give fewer --days, or make a new authority");

    const Pair pair = authority.issue(request);
    const fs::path key = fileOf(kind, name, ".key");
    const fs::path certificate = fileOf(kind, name, ".pem");
    const fs::path stagedKey = fileOf(kind, name, ".key.new");
    const fs::path stagedCertificate = fileOf(kind, name, ".pem.new");
    writeNew(stagedKey, pair.key, kPrivate);
    writeNew(stagedCertificate, pair.certificate, kPublic);
    syncDirectory(key.parent_path());
    writeWhole(directory_ / kIssued / issuedName(pair.serial), pair.certificate, kPublic);

    const Entry entry{pair.serial, kind, name, pair.notAfter, std::nullopt};
    entries.push_back(entry);
    writeIndex(entries);

    moveOver(stagedKey, key);
    moveOver(stagedCertificate, certificate);
    syncDirectory(key.parent_path());
    writeCrl(now);
    return entry;
}

Entry Authority::issue(Kind kind, const std::string& name, const IssueOptions& options, Seconds now)
{
    mustBeName(kind, name);
    const bool known =
        std::ranges::any_of(entries_, [&](const Entry& entry) { return isOf(entry, kind, name); });
    if (known)
        refuse(described(kind, name) +
               " has been issued already; for a new certificate: jackpotctl pki renew " +
               described(kind, name));
    for (const std::string_view suffix : {".pem", ".key"})
        if (const fs::path file = fileOf(kind, name, suffix); isThere(file))
            refuse(file.string() + ": is there already, though not in the index; move it away");
    return make(kind, name, options, entries_, now);
}

Entry Authority::renew(Kind kind, const std::string& name, const IssueOptions& options,
                       bool revokeOld, Seconds now)
{
    mustBeName(kind, name);
    std::vector<Entry> entries = entries_;
    const Entry* latest = nullptr;
    for (Entry& entry : entries) {
        if (!isOf(entry, kind, name)) continue;
        latest = &entry;
        if (revokeOld && !entry.revoked && entry.notAfter > now)
            entry.revoked = Revoked{entry.serial, now, Reason::Superseded};
    }
    if (!latest)
        refuse(described(kind, name) + " has not been issued; for its first certificate: " +
               "jackpotctl pki issue " + described(kind, name));
    IssueOptions same = options;
    if (kind == Kind::Server && same.hosts.empty()) {
        const fs::path file = directory_ / kIssued / issuedName(latest->serial);
        const auto facts = factsOfCertificate(cli::readFile(file, kMaxFileBytes));
        if (!facts) refuse(file.string() + ": " + facts.error().message + "; give --host");
        same.hosts = facts->hosts;
    }
    return make(kind, name, same, std::move(entries), now);
}

std::vector<Entry> Authority::revoke(Kind kind, const std::string& name,
                                     const std::optional<std::string>& serial, Reason reason,
                                     Seconds now)
{
    mustBeName(kind, name);
    (void)issuer();  // without a signed list there is no revocation
    std::vector<Entry> entries = entries_;
    std::vector<Entry> revoked;
    bool known = false;
    for (Entry& entry : entries) {
        if (!isOf(entry, kind, name) || (serial && entry.serial != *serial)) continue;
        known = true;
        if (entry.revoked || entry.notAfter <= now) continue;
        entry.revoked = Revoked{entry.serial, now, reason};
        revoked.push_back(entry);
    }
    if (!known)
        refuse(described(kind, name) + (serial ? " with serial " + *serial : std::string{}) +
               " has not been issued; jackpotctl pki list shows what has");
    if (revoked.empty())
        refuse(described(kind, name) + " has no valid certificate: all are revoked or expired");
    writeIndex(entries);
    writeCrl(now);
    return revoked;
}

void Authority::writeCrl(Seconds now, Seconds days)
{
    const fs::path file = directory_ / "crl.pem";
    std::uint64_t number = 0;
    if (isThere(file)) {
        const auto facts = factsOfCrl(cli::readFile(file, kMaxIndexBytes));
        if (!facts) refuse(file.string() + ": " + facts.error().message + "; move it away");
        number = facts->number;
    }
    std::vector<Revoked> revoked;
    for (const Entry& entry : entries_)
        if (entry.revoked && entry.notAfter > now) revoked.push_back(*entry.revoked);
    writeWhole(file, issuer().makeCrl(revoked, number + 1, now, now + days * kDay), kPublic);
}

Seconds Authority::authorityNotAfter() const
{
    const fs::path file = directory_ / "ca.pem";
    const auto facts = factsOfCertificate(cli::readFile(file, kMaxFileBytes));
    if (!facts) refuse(file.string() + ": " + facts.error().message);
    return facts->notAfter;
}

Seconds Authority::crlNextUpdate() const
{
    const fs::path file = directory_ / "crl.pem";
    const auto facts = factsOfCrl(cli::readFile(file, kMaxIndexBytes));
    if (!facts) refuse(file.string() + ": " + facts.error().message);
    return facts->nextUpdate;
}

}  // namespace jackpot::ctl::pki
