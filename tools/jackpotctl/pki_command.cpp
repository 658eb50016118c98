#include "tools/jackpotctl/pki_command.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "base/printable.h"
#include "tools/jackpot-audit/cli.h"
#include "tools/jackpotctl/pki.h"

namespace jackpot::tools {
namespace {

using audit::Arguments;
using audit::Option;
using audit::Stop;
using pki::Authority;
using pki::Entry;
using pki::kDay;
using pki::Kind;
using pki::Seconds;
namespace fs = std::filesystem;

constexpr std::uint64_t kMaxDays = 3650;

constexpr std::string_view kHelp =
    R"(jackpotctl pki - certificates for the daemon, the tables and operators

Usage:
  jackpotctl pki init                   make the authority and the server's certificate
  jackpotctl pki issue KIND NAME        a first certificate for a table, operator or server
  jackpotctl pki renew KIND NAME        a new certificate, with a new key, for the same name
  jackpotctl pki revoke KIND NAME       its certificates are no longer accepted
  jackpotctl pki crl                    sign the list of what is revoked anew
  jackpotctl pki list                   what has been issued, and what expires
  jackpotctl pki COMMAND --help         more about a command

KIND is table, operator or server. The authority lies in the directory pki, or where --dir DIR says.
docs/pki.md is the guide, also to using an authority of your own.

Exit status: 0 done; 2 the command line is wrong, or it is refused and nothing was changed
)";

constexpr std::string_view kInitHelp =
    R"(jackpotctl pki init - make the site's certificate authority

Usage:
  jackpotctl pki init [--dir DIR] [--server NAME] [--host HOST]... [--days N]

Makes the directory with the authority (10 years), the daemon's certificate and an empty revocation list.

Options:
  --dir DIR      where to (pki); it must not exist, or be empty
  --server NAME  the name of the daemon's certificate (jackpotd)
  --host HOST    a DNS name or IP address under which tables reach the daemon; as often as needed
                 (localhost, 127.0.0.1 and ::1)
  --days N       how long the daemon's certificate is valid (397)
  --help         print this

Exit status: 0 done; 2 refused, nothing was made
)";

constexpr std::string_view kIssueHelp =
    R"(jackpotctl pki issue - a first certificate

Usage:
  jackpotctl pki issue table ID [--dir DIR] [--days N]
  jackpotctl pki issue operator NAME [--dir DIR] [--days N]
  jackpotctl pki issue server NAME [--host HOST]... [--dir DIR] [--days N]

Writes DIR/KIND/NAME.pem and NAME.key. Nothing is overwritten: see renew.

Options:
  --dir DIR    the authority's directory (pki)
  --host HOST  a DNS name or IP address of the server (localhost, 127.0.0.1 and ::1)
  --days N     how long it is valid (730; a server's 397)
  --help       print this

Exit status: 0 done; 2 refused, nothing was changed
)";

constexpr std::string_view kRenewHelp =
    R"(jackpotctl pki renew - a new certificate with a new key for the same name

Usage:
  jackpotctl pki renew KIND NAME [--revoke-old] [--host HOST]... [--dir DIR] [--days N]

Replaces DIR/KIND/NAME.pem and NAME.key. The old certificate stays valid until it expires, so that there
is time to install the new one. A server keeps its hosts unless --host is given.

Options:
  --revoke-old  revoke what was valid so far
  --dir DIR, --host HOST, --days N   as for issue
  --help        print this

Exit status: 0 done; 2 refused, nothing was changed
)";

constexpr std::string_view kRevokeHelp =
    R"(jackpotctl pki revoke - certificates are no longer accepted

Usage:
  jackpotctl pki revoke KIND NAME [--serial SERIAL] [--reason REASON] [--dir DIR]

Revokes every valid certificate of the name and signs DIR/crl.pem anew. The daemon must then read it.

Options:
  --serial SERIAL  only this one; jackpotctl pki list shows the serials
  --reason REASON  unspecified (the default), key-compromise, superseded or cessation-of-operation
  --dir DIR        the authority's directory (pki)
  --help           print this

Exit status: 0 done; 2 refused, nothing was changed
)";

constexpr std::string_view kCrlHelp =
    R"(jackpotctl pki crl - sign the list of what is revoked anew

Usage:
  jackpotctl pki crl [--dir DIR] [--days N]

A list that has expired makes the daemon refuse every table. issue, renew and revoke sign it anew as well;
a timer that runs this once a week keeps it fresh.

Options:
  --dir DIR  the authority's directory (pki)
  --days N   how long it is valid (30)
  --help     print this

Exit status: 0 done; 2 refused, nothing was changed
)";

constexpr std::string_view kListHelp =
    R"(jackpotctl pki list - what has been issued, and what expires

Usage:
  jackpotctl pki list [--json] [--dir DIR]

Standard error warns of what expires within 30 days. Nothing is changed.

Options:
  --json     for programs
  --dir DIR  the authority's directory (pki)
  --help     print this

Exit status: 0 done; 2 the directory cannot be read
)";

constexpr Option kDir{"--dir", Option::Form::Value};
constexpr Option kDays{"--days", Option::Form::Value};
constexpr Option kHost{"--host", Option::Form::Values};

Seconds wallClock()
{
    using namespace std::chrono;
    return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

fs::path directoryOf(const Arguments& arguments)
{
    const std::string directory = arguments.value("--dir").value_or("pki");
    if (directory.empty()) arguments.refuse("--dir takes a directory");
    return directory;
}

pki::IssueOptions optionsOf(const Arguments& arguments)
{
    pki::IssueOptions options{arguments.values("--host"), std::nullopt};
    if (arguments.has("--days"))
        options.days = static_cast<Seconds>(arguments.number("--days", 1, kMaxDays, 1));
    return options;
}

struct Subject {
    Kind kind;
    std::string name;
};

Subject subjectOf(const Arguments& arguments)
{
    arguments.requirePositional(2, 2, "a KIND (table, operator or server) and a NAME");
    const auto kind = pki::kindOfId(arguments.positional()[0]);
    if (!kind)
        arguments.refuse("\"" + arguments.positional()[0] +
                         "\" is no kind: it takes table, operator or server");
    return {*kind, arguments.positional()[1]};
}

void say(const std::string& text) { std::cout << printable(text) << "\n"; }

std::string dayOf(Seconds time) { return pki::inUtc(time).substr(0, 10); }

void sayIssued(const Authority& authority, const fs::path& directory, const Entry& entry)
{
    say(authority.fileOf(entry.kind, entry.name, ".pem").string() + ": valid until " +
        dayOf(entry.notAfter) + ", serial " + entry.serial);
    const std::string key = authority.fileOf(entry.kind, entry.name, ".key").string();
    say(key + ": its private key");
    if (entry.kind == Kind::Table)
        say("Next: bring both and " + (directory / "ca.pem").string() +
            " to the table's controller, then delete " + key + " here.");
    else if (entry.kind == Kind::Operator)
        say("Next: bring both to the operator, then delete " + key + " here.");
    else
        say("Next: name both in [link] of jackpotd.toml, and restart the daemon.");
}

// So that --dir is repeated only where it was needed.
std::string dirOption(const Arguments& arguments)
{
    const auto given = arguments.value("--dir");
    return given ? " --dir " + *given : "";
}

int initCommand(const Arguments& arguments)
{
    arguments.requirePositional(0, 0, "no arguments besides its options");
    const fs::path directory = directoryOf(arguments);
    const std::string server = arguments.value("--server").value_or("jackpotd");
    Authority::init(directory, server, optionsOf(arguments), wallClock());
    const Authority made{directory, Authority::For::Reading};
    say((directory / "ca.pem").string() + ": the authority, valid until " +
        dayOf(made.authorityNotAfter()));
    say((directory / "ca.key").string() +
        ": its private key; whoever has it can pass for any table: keep it safe, and a copy "
        "offline");
    say((directory / "crl.pem").string() + ": what is revoked, to be signed anew by " +
        dayOf(made.crlNextUpdate()));
    say(made.fileOf(Kind::Server, server, ".pem").string() + ", .key: the daemon's");
    say("Next: jackpotctl pki issue table BJ01" + dirOption(arguments));
    return EXIT_SUCCESS;
}

int issueCommand(const Arguments& arguments)
{
    const Subject subject = subjectOf(arguments);
    const fs::path directory = directoryOf(arguments);
    Authority authority{directory, Authority::For::Changing};
    sayIssued(authority, directory,
              authority.issue(subject.kind, subject.name, optionsOf(arguments), wallClock()));
    return EXIT_SUCCESS;
}

int renewCommand(const Arguments& arguments)
{
    const Subject subject = subjectOf(arguments);
    const fs::path directory = directoryOf(arguments);
    Authority authority{directory, Authority::For::Changing};
    sayIssued(authority, directory,
              authority.renew(subject.kind, subject.name, optionsOf(arguments),
                              arguments.has("--revoke-old"), wallClock()));
    return EXIT_SUCCESS;
}

int revokeCommand(const Arguments& arguments)
{
    const Subject subject = subjectOf(arguments);
    const std::string word = arguments.value("--reason").value_or("unspecified");
    const auto reason = pki::reasonOfId(word);
    if (!reason)
        arguments.refuse("\"" + word + "\" is no reason: it takes unspecified, key-compromise, " +
                         "superseded or cessation-of-operation");
    const fs::path directory = directoryOf(arguments);
    Authority authority{directory, Authority::For::Changing};
    for (const Entry& entry : authority.revoke(subject.kind, subject.name,
                                               arguments.value("--serial"), *reason, wallClock()))
        say("revoked " + std::string{pki::idOf(entry.kind)} + " " + entry.name + ", serial " +
            entry.serial);
    say("Next: have the daemon read " + (directory / "crl.pem").string() + " (systemctl reload).");
    return EXIT_SUCCESS;
}

int crlCommand(const Arguments& arguments)
{
    arguments.requirePositional(0, 0, "no arguments besides its options");
    const fs::path directory = directoryOf(arguments);
    Authority authority{directory, Authority::For::Changing};
    authority.writeCrl(
        wallClock(), static_cast<Seconds>(arguments.number("--days", 1, kMaxDays, pki::kCrlDays)));
    say((directory / "crl.pem").string() + ": to be signed anew by " +
        dayOf(authority.crlNextUpdate()));
    return EXIT_SUCCESS;
}

std::string_view stateOf(const Entry& entry, Seconds now)
{
    if (entry.revoked) return "revoked";
    return entry.notAfter <= now ? "expired" : "valid";
}

// Whether a later certificate of the same name has taken its place.
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

// Names, serials and words need no escaping.
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

int listCommand(const Arguments& arguments)
{
    arguments.requirePositional(0, 0, "no arguments besides its options");
    const Authority authority{directoryOf(arguments), Authority::For::Reading};
    const Seconds now = wallClock();
    if (arguments.has("--json"))
        printJson(authority, now);
    else
        printTable(authority, now);
    printWarnings(authority, dirOption(arguments), now);
    return EXIT_SUCCESS;
}

struct Command {
    std::string_view name;
    std::string_view help;
    std::vector<Option> options;
    int (*run)(const Arguments&);
};

const std::array<Command, 6>& commands()
{
    static const std::array<Command, 6> all{
        Command{"init",
                kInitHelp,
                {kDir, kDays, kHost, {"--server", Option::Form::Value}},
                initCommand},
        Command{"issue", kIssueHelp, {kDir, kDays, kHost}, issueCommand},
        Command{"renew", kRenewHelp, {kDir, kDays, kHost, {"--revoke-old"}}, renewCommand},
        Command{"revoke",
                kRevokeHelp,
                {kDir, {"--serial", Option::Form::Value}, {"--reason", Option::Form::Value}},
                revokeCommand},
        Command{"crl", kCrlHelp, {kDir, kDays}, crlCommand},
        Command{"list", kListHelp, {kDir, {"--json"}}, listCommand},
    };
    return all;
}

bool asksForHelp(const std::string& argument) { return argument == "--help" || argument == "-h"; }

}  // namespace

int pkiCommand(const std::vector<std::string>& given)
{
    if (!given.empty() && (asksForHelp(given[0]) || given[0] == "help")) {
        std::cout << kHelp;
        return EXIT_SUCCESS;
    }
    try {
        const auto* const command = given.empty()
                                        ? commands().end()
                                        : std::ranges::find(commands(), given[0], &Command::name);
        if (command == commands().end())
            throw Stop{audit::kBadInput,
                       "pki: takes init, issue, renew, revoke, crl or list "
                       "(see jackpotctl pki --help)"};
        const std::vector<std::string> rest(given.begin() + 1, given.end());
        if (std::ranges::any_of(rest, asksForHelp)) {
            std::cout << command->help;
            return EXIT_SUCCESS;
        }
        ::umask(S_IRWXG | S_IRWXO);
        return command->run(Arguments{"pki " + given[0], rest, command->options, "jackpotctl"});
    } catch (const Stop& stop) {
        std::cerr << "jackpotctl: " << printable(stop.what()) << "\n";
        return stop.status();
    }
}

}  // namespace jackpot::tools
