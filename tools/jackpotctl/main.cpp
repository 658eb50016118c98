// jackpotctl: the operator's and inspector's command line.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "base/result.h"
#include "tools/jackpotctl/backup_command.h"
#include "tools/jackpotctl/completion.h"
#include "tools/jackpotctl/daemon_command.h"
#include "tools/jackpotctl/desk_command.h"
#include "tools/jackpotctl/journal_command.h"
#include "tools/jackpotctl/people_command.h"
#include "tools/jackpotctl/pki_command.h"
#include "tools/jackpotctl/scenario.h"
#include "tools/jackpotctl/simulate.h"

namespace {

using jackpot::Error;
using jackpot::Result;

constexpr int kExitBadInput = 2;
constexpr std::size_t kMaxScenarioBytes = 64U << 20U;

constexpr std::string_view kHelp =
    R"(jackpotctl - ask and operate the progressive jackpot controller

Usage:
  jackpotctl simulate [--explain] FILE    what would be paid if this happened
  jackpotctl journal COMMAND ...          make a journal, change its key, archive it
  jackpotctl backup DIRECTORY             a verified copy of the journal, also while the daemon runs
  jackpotctl restore BACKUP --to ...      put a backup where the daemon will find it
  jackpotctl pki COMMAND ...              certificates for the daemon, the tables and operators
  jackpotctl completion bash              completion for a shell
  jackpotctl COMMAND --help               more about a command
  jackpotctl --help | --version

The running daemon, on the machine itself:
  jackpotctl reload [--config FILE]       have the running daemon read its configuration again
  jackpotctl change-pool POOL ...         agree on other parameters of a pool, by two people
  jackpotctl status [--config FILE]       what the running daemon is doing, in numbers
  jackpotctl meters [--config FILE]       what each meter shows, and who looks at it
  jackpotctl user COMMAND NAME ...        people of the claims desk, on the machine itself

The claims desk, from anywhere:
  jackpotctl login [--name NAME]          sign in at the claims desk
  jackpotctl logout                       end that session, everywhere
  jackpotctl whoami                       who is signed in, and for how long
  jackpotctl users COMMAND ...            people of the claims desk, for administrators
  jackpotctl pools                        the pools: what they show, hold and wait for
  jackpotctl tables                       the tables: suspended, offline, the present round
  jackpotctl suspend table|pool ID        take no more jackpot wagers
  jackpotctl resume table|pool ID         take them again
  jackpotctl notices [--all]              what people are to know of
  jackpotctl acknowledge ID               have seen a notice

Claims, rulings and payments:
  jackpotctl claims [--state STATE]       the jackpots that were won
  jackpotctl claim TABLE ROUND            all about one: cards, awards, arithmetic, payment
  jackpotctl rulings POOL                 what is held, and what each possible ruling would pay
  jackpotctl rule POOL ...                give a ruling
  jackpotctl pay TABLE ROUND ...          record a payment
  jackpotctl withhold TABLE ROUND ...     do not pay an award, by two people
  jackpotctl void TABLE ROUND ...         return the wagers of a round, or one of them
  jackpotctl correct TABLE ROUND ...      give the right cards of a round

What takes two people:
  jackpotctl adjust POOL AMOUNT ...       add to a pool's meter or take from it
  jackpotctl propose POOL KEY=VALUE ...   other parameters of a pool
  jackpotctl proposals [--state STATE]    what was proposed
  jackpotctl proposal ID                  all about one: the exact command and its hash
  jackpotctl approve ID                   be the second person
  jackpotctl reject ID                    refuse what another has proposed
  jackpotctl withdraw ID                  take back what you have proposed
  jackpotctl lock                         whether the daemon is locked, and by what
  jackpotctl accept-restore ...           go on with a journal that was restored

The journal:
  jackpotctl records [--kind KIND] ...    search it
  jackpotctl record RECORD                all that a record says
  jackpotctl proof RECORD                 the proof that a record is in it
  jackpotctl report NAME ...              wins, reconciliation or differences
)";

constexpr std::string_view kSimulateHelp =
    R"(jackpotctl simulate - run a scenario through the rules

Usage:
  jackpotctl simulate [--explain] FILE

Reads pools, tables and events from FILE (JSON; - is standard input) and prints what would be paid, in
the order of payment, what would be returned or refused, and what the pools then are. It uses the same
rules, settlement and accounting as the daemon, with virtual time, and changes nothing.
docs/scenarios.md describes the format.

Options:
  --explain   print an account for people: each event, what it did to the pool, each award with its rule
              and arithmetic
  --help      print this

Exit status:
  0   the scenario was run; refused events are part of its outcome
  2   the scenario is not well formed or its site breaks a rule: nothing was run, and standard error says
      where and which rule; or the command line or the file cannot be read
)";

int fail(std::string_view message)
{
    std::cerr << "jackpotctl: " << jackpot::printable(message) << "\n";
    return kExitBadInput;
}

Result<std::string> readAll(const std::string& path)
{
    std::ifstream file;
    if (path != "-") {
        file.open(path, std::ios::binary);
        if (!file) return Error{path + ": cannot be opened: check the name and its permissions"};
    }
    std::istream& in = path == "-" ? std::cin : file;
    std::string text;
    std::vector<char> chunk(1U << 16U);
    while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
        text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
        if (text.size() > kMaxScenarioBytes)
            return Error{path + ": larger than " + std::to_string(kMaxScenarioBytes >> 20U) +
                         " MiB: split the scenario"};
    }
    if (in.bad()) return Error{path + ": cannot be read"};
    return text;
}

int simulate(const std::vector<std::string>& arguments)
{
    bool explain = false;
    std::vector<std::string> files;
    for (const std::string& argument : arguments) {
        if (argument == "--help" || argument == "-h") {
            std::cout << kSimulateHelp;
            return EXIT_SUCCESS;
        }
        if (argument == "--explain")
            explain = true;
        else if (argument.size() > 1 && argument.starts_with('-'))
            return fail("simulate: unknown option " + argument +
                        " (see jackpotctl simulate --help)");
        else
            files.push_back(argument);
    }
    if (files.size() != 1) return fail("simulate: takes one FILE (see jackpotctl simulate --help)");

    const auto text = readAll(files[0]);
    if (!text) return fail(text.error().message);
    const auto scenario = jackpot::tools::readScenario(*text);
    if (!scenario) {
        for (const std::string& line : scenario.error().lines)
            std::cerr << jackpot::printable(files[0] + ": " + line) << "\n";
        return kExitBadInput;
    }
    std::cout << (explain ? simulateToAccount(*scenario) : simulateToJson(*scenario));
    return EXIT_SUCCESS;
}

int run(const std::vector<std::string>& arguments)
{
    if (arguments.empty()) {
        std::cerr << kHelp;
        return kExitBadInput;
    }
    const std::string& command = arguments[0];
    if (command == "--help" || command == "-h" || command == "help") {
        std::cout << kHelp;
        return EXIT_SUCCESS;
    }
    if (command == "--version") {
        std::cout << "jackpotctl " JACKPOT_VERSION "\n";
        return EXIT_SUCCESS;
    }
    if (command == "simulate") return simulate({arguments.begin() + 1, arguments.end()});
    if (command == "journal")
        return jackpot::tools::journalCommand({arguments.begin() + 1, arguments.end()});
    if (command == "backup" || command == "restore")
        return jackpot::tools::backupCommand(command, {arguments.begin() + 1, arguments.end()});
    if (command == "pki")
        return jackpot::tools::pkiCommand({arguments.begin() + 1, arguments.end()});
    if (command == "reload" || command == "status" || command == "meters" ||
        command == "change-pool")
        return jackpot::tools::daemonCommand(command, {arguments.begin() + 1, arguments.end()});
    if (command == "login" || command == "logout" || command == "whoami" || command == "users" ||
        command == "user")
        return jackpot::tools::peopleCommand(command, {arguments.begin() + 1, arguments.end()});
    if (const auto* desk = jackpot::tools::findDeskCommand(command))
        return jackpot::tools::runDeskCommand(*desk, {arguments.begin() + 1, arguments.end()});
    if (command == "completion")
        return jackpot::tools::completionCommand({arguments.begin() + 1, arguments.end()});
    return fail("unknown command \"" + command + "\" (see jackpotctl --help)");
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        const int status = run({argv + 1, argv + argc});
        std::cout.flush();
        return std::cout ? status : fail("standard output cannot be written");
    } catch (const std::exception& error) {
        std::cerr << "jackpotctl: a fault in this program, please report it: " << error.what()
                  << "\n";
        return EXIT_FAILURE;
    }
}
