// jackpotctl pki init, issue, renew, revoke, crl and list.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>

#include "base/printable.h"
#include "tools/cli/command_error.h"
#include "tools/jackpotctl/commands.h"
#include "tools/jackpotctl/pki.h"

namespace jackpot::ctl {
namespace {

using pki::Authority;
using pki::Entry;
using pki::kDay;
using pki::Kind;
using pki::Seconds;
namespace fs = std::filesystem;

constexpr std::uint64_t kMaxDays = 3650;

Seconds wallClock()
{
    using namespace std::chrono;
    return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

struct PkiOptions {
    std::string directory = "pki";
    std::string server = "jackpotd";
    std::vector<std::string> hosts;
    std::optional<std::uint64_t> days;
    std::string kind;
    std::string name;
    bool revokeOld = false;
    std::optional<std::string> serial;
    std::string reason = "unspecified";
    bool json = false;

    [[nodiscard]] pki::IssueOptions issueOptions() const
    {
        pki::IssueOptions options{hosts, std::nullopt};
        if (days) options.days = static_cast<Seconds>(*days);
        return options;
    }
    [[nodiscard]] Kind kindOfCertificate() const { return pki::kindOfId(kind).value(); }
    // The --dir option for commands that are printed; empty for the default directory.
    [[nodiscard]] std::string dirOption() const
    {
        return directory == "pki" ? "" : " --dir " + directory;
    }
};

void printLine(const std::string& text) { std::cout << printable(text) << "\n"; }

std::string dayOf(Seconds time) { return pki::inUtc(time).substr(0, 10); }

void printIssued(const Authority& authority, const fs::path& directory, const Entry& entry)
{
    printLine(authority.fileOf(entry.kind, entry.name, ".pem").string() + ": valid until " +
              dayOf(entry.notAfter) + ", serial " + entry.serial);
    const std::string key = authority.fileOf(entry.kind, entry.name, ".key").string();
    printLine(key + ": its private key");
    if (entry.kind == Kind::Table)
        printLine("Next: bring both and " + (directory / "ca.pem").string() +
                  " to the table's controller, then delete " + key + " here.");
    else if (entry.kind == Kind::Operator)
        printLine("Next: bring both to the operator, then delete " + key + " here.");
    else
        printLine("Next: name both in [link] of jackpotd.toml, and restart the daemon.");
}

int init(const PkiOptions& options)
{
    const fs::path directory = options.directory;
    Authority::init(directory, options.server, options.issueOptions(), wallClock());
    const Authority made{directory, Authority::For::Reading};
    printLine((directory / "ca.pem").string() + ": the authority, valid until " +
              dayOf(made.authorityNotAfter()));
    printLine((directory / "ca.key").string() +
              ": its private key, which can certify any table: keep it safe, and a copy "
              "offline");
    printLine((directory / "crl.pem").string() + ": the revocation list, to be signed again by " +
              dayOf(made.crlNextUpdate()));
    printLine(made.fileOf(Kind::Server, options.server, ".pem").string() + ", .key: the daemon's");
    printLine("Next: jackpotctl pki issue table BJ01" + options.dirOption());
    return cli::kSuccess;
}

int issue(const PkiOptions& options)
{
    const fs::path directory = options.directory;
    Authority authority{directory, Authority::For::Changing};
    printIssued(authority, directory,
                authority.issue(options.kindOfCertificate(), options.name, options.issueOptions(),
                                wallClock()));
    return cli::kSuccess;
}

int renew(const PkiOptions& options)
{
    const fs::path directory = options.directory;
    Authority authority{directory, Authority::For::Changing};
    printIssued(authority, directory,
                authority.renew(options.kindOfCertificate(), options.name, options.issueOptions(),
                                options.revokeOld, wallClock()));
    return cli::kSuccess;
}

int revoke(const PkiOptions& options)
{
    const auto reason = pki::reasonOfId(options.reason).value();
    const fs::path directory = options.directory;
    Authority authority{directory, Authority::For::Changing};
    for (const Entry& entry : authority.revoke(options.kindOfCertificate(), options.name,
                                               options.serial, reason, wallClock()))
        printLine("revoked " + std::string{pki::idOf(entry.kind)} + " " + entry.name + ", serial " +
                  entry.serial);
    printLine("Next: have the daemon read " + (directory / "crl.pem").string() +
              " (systemctl reload).");
    return cli::kSuccess;
}

int writeCrl(const PkiOptions& options)
{
    const fs::path directory = options.directory;
    Authority authority{directory, Authority::For::Changing};
    authority.writeCrl(wallClock(), static_cast<Seconds>(options.days.value_or(pki::kCrlDays)));
    printLine((directory / "crl.pem").string() + ": to be signed again by " +
              dayOf(authority.crlNextUpdate()));
    return cli::kSuccess;
}

std::string_view stateOf(const Entry& entry, Seconds now)
{
    if (entry.revoked) return "revoked";
    return entry.notAfter <= now ? "expired" : "valid";
}

// True if a later certificate of the same name has replaced it.
bool isReplaced(const std::vector<Entry>& entries, std::size_t at)
{
    return std::any_of(entries.begin() + static_cast<std::ptrdiff_t>(at) + 1, entries.end(),
                       [&](const Entry& later) {
                           return later.kind == entries[at].kind && later.name == entries[at].name;
                       });
}

void printTable(const Authority& authority, Seconds now)
{
    std::size_t width = 4;
    for (const Entry& entry : authority.entries()) width = std::max(width, entry.name.size());
    const auto row = [width](std::string kind, std::string name, std::string expires,
                             std::string serial, const std::string& state) {
        kind.resize(8, ' ');
        name.resize(width, ' ');
        expires.resize(10, ' ');
        serial.resize(32, ' ');
        std::cout << kind << "  " << name << "  " << expires << "  " << serial << "  " << state
                  << "\n";
    };
    row("kind", "name", "expires", "serial", "state");
    for (const Entry& entry : authority.entries()) {
        std::string state{stateOf(entry, now)};
        if (entry.revoked)
            state += " " + dayOf(entry.revoked->at) + ", " +
                     std::string{pki::idOf(entry.revoked->reason)};
        row(std::string{pki::idOf(entry.kind)}, entry.name, dayOf(entry.notAfter), entry.serial,
            state);
    }
    std::cout << "the authority expires on " << dayOf(authority.authorityNotAfter())
              << ", the revocation list on " << dayOf(authority.crlNextUpdate()) << "\n";
}

// Names, serials and the fixed words need no escaping.
void printJson(const Authority& authority, Seconds now)
{
    std::cout << R"({"authority":{"not_after":")" << pki::inUtc(authority.authorityNotAfter())
              << R"("},"crl":{"next_update":")" << pki::inUtc(authority.crlNextUpdate())
              << R"("},"certificates":[)";
    for (std::size_t i = 0; i < authority.entries().size(); ++i) {
        const Entry& entry = authority.entries()[i];
        std::cout << (i == 0 ? "" : ",") << "\n"
                  << R"({"kind":")" << pki::idOf(entry.kind) << R"(","name":")" << entry.name
                  << R"(","serial":")" << entry.serial << R"(","not_after":")"
                  << pki::inUtc(entry.notAfter) << R"(","state":")" << stateOf(entry, now) << '"';
        if (entry.revoked)
            std::cout << R"(,"revoked_at":")" << pki::inUtc(entry.revoked->at) << R"(","reason":")"
                      << pki::idOf(entry.revoked->reason) << '"';
        std::cout << "}";
    }
    std::cout << "\n]}\n";
}

void warn(const std::string& what, Seconds until, Seconds now, Seconds days,
          const std::string& remedy)
{
    if (until - now > days * kDay) return;
    const std::string when = until <= now ? "expired on " : "expires on ";
    std::cerr << "warning: " << printable(what + " " + when + pki::inUtc(until) + ": " + remedy)
              << "\n";
}

void printWarnings(const Authority& authority, const std::string& dir, Seconds now)
{
    const std::vector<Entry>& entries = authority.entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].revoked || isReplaced(entries, i)) continue;
        const std::string subject = std::string{pki::idOf(entries[i].kind)} + " " + entries[i].name;
        warn(subject, entries[i].notAfter, now, pki::kWarnDays,
             "jackpotctl pki renew " + subject + dir);
    }
    warn("the revocation list", authority.crlNextUpdate(), now, pki::kCrlWarnDays,
         "jackpotctl pki crl" + dir);
    warn("the authority", authority.authorityNotAfter(), now, pki::kServerDays,
         "make a new one in another directory, and let the daemon trust both meanwhile");
}

int list(const PkiOptions& options)
{
    const Authority authority{options.directory, Authority::For::Reading};
    const Seconds now = wallClock();
    if (options.json)
        printJson(authority, now);
    else
        printTable(authority, now);
    printWarnings(authority, options.dirOption(), now);
    return cli::kSuccess;
}

cli::Command& addPkiCommand(cli::Command& pki, std::shared_ptr<PkiOptions> options,
                            const std::string& name, const std::string& summary,
                            int (*work)(const PkiOptions&))
{
    return pki.add(name, summary)
        .option("--dir DIR", options->directory, "the authority's directory")
        .exitStatuses({{0, "done"}, {2, "refused, and nothing was changed"}})
        .run([options, work] {
            ::umask(S_IRWXG | S_IRWXO);
            return work(*options);
        });
}

void addSubject(cli::Command& command, PkiOptions& options)
{
    command.argumentChoice("KIND", options.kind, {"table", "operator", "server"})
        .argument("NAME", options.name, "a table's id, or the name of the operator or server");
}

void addHostsAndDays(cli::Command& command, PkiOptions& options, const std::string& hosts,
                     const std::string& days)
{
    command.option("--host HOST", options.hosts, hosts)
        .number("--days N", options.days, {1, kMaxDays}, days);
}

constexpr char kHostHelp[] =
    "a DNS name or IP address of the server; localhost, 127.0.0.1 and ::1 unless given";
constexpr char kDaysHelp[] = "the days until it expires; 730, or 397 for a server, unless given";

}  // namespace

void addPkiCommands(cli::Command& program)
{
    cli::Command& pki = program.add("pki", "certificates for the daemon, the tables and operators");
    pki.describe(
           "The authority is in the directory pki, or in that of --dir. docs/pki.md is the guide, "
           "also "
           "to using an authority of your own.")
        .exitStatuses({{0, "done"},
                       {2, "the command line is wrong, or it is refused and nothing was changed"}});

    auto made = std::make_shared<PkiOptions>();
    cli::Command& initCommand =
        addPkiCommand(pki, made, "init", "make the authority and the server's certificate", init);
    initCommand
        .describe(
            "Makes the directory, which must be absent or empty, with the authority (10 years), "
            "the "
            "daemon's certificate and an empty revocation list.")
        .option("--server NAME", made->server, "the name of the daemon's certificate");
    addHostsAndDays(initCommand, *made,
                    "a DNS name or IP address at which tables reach the daemon; localhost, "
                    "127.0.0.1 and ::1 unless given",
                    "the days until the daemon's certificate expires; 397 unless given");

    auto issued = std::make_shared<PkiOptions>();
    cli::Command& issueCommand = addPkiCommand(
        pki, issued, "issue", "issue a first certificate for a table, operator or server", issue);
    issueCommand
        .describe("Writes DIR/KIND/NAME.pem and NAME.key. Nothing is overwritten: see renew.")
        .example("jackpotctl pki issue table BJ01");
    addSubject(issueCommand, *issued);
    addHostsAndDays(issueCommand, *issued, kHostHelp, kDaysHelp);

    auto renewed = std::make_shared<PkiOptions>();
    cli::Command& renewCommand =
        addPkiCommand(pki, renewed, "renew", "issue a new certificate, with a new key", renew);
    renewCommand
        .describe(
            "Replaces DIR/KIND/NAME.pem and NAME.key. The old certificate stays valid until it "
            "expires, so that there is time to install the new one. A server keeps its hosts "
            "unless "
            "--host is given.")
        .flag("--revoke-old", renewed->revokeOld, "revoke the certificates that were valid so far");
    addSubject(renewCommand, *renewed);
    addHostsAndDays(renewCommand, *renewed, kHostHelp, kDaysHelp);

    auto revoked = std::make_shared<PkiOptions>();
    cli::Command& revokeCommand =
        addPkiCommand(pki, revoked, "revoke", "revoke the certificates of a name", revoke);
    revokeCommand
        .describe(
            "Revokes every valid certificate of the name and signs DIR/crl.pem again. The daemon "
            "must then reload it.")
        .option("--serial SERIAL", revoked->serial,
                "only this certificate; jackpotctl pki list prints the serials")
        .choice("--reason REASON", revoked->reason,
                {"unspecified", "key-compromise", "superseded", "cessation-of-operation"},
                "the reason");
    addSubject(revokeCommand, *revoked);

    auto crl = std::make_shared<PkiOptions>();
    addPkiCommand(pki, crl, "crl", "sign the revocation list again", writeCrl)
        .describe(
            "A list that has expired makes the daemon refuse every table. issue, renew and revoke "
            "sign it as well; a timer that runs this once a week keeps it valid.")
        .number("--days N", crl->days, {1, kMaxDays}, "the days until it expires; 30 unless given");

    auto listed = std::make_shared<PkiOptions>();
    addPkiCommand(pki, listed, "list", "list the certificates, and warn of those that expire", list)
        .describe(
            "Warns on standard error of certificates that expire within 30 days. Nothing is "
            "changed.")
        .flag("--json", listed->json, "print JSON");
}

}  // namespace jackpot::ctl
