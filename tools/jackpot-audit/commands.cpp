#include "tools/jackpot-audit/commands.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>

#include "tools/jackpot-audit/cli.h"
#include "tools/jackpot-audit/output.h"

namespace jackpot::audit {
namespace {

struct Command {
    std::string_view name;
    int (*run)(const std::vector<std::string>& given);
};

constexpr std::array kCommands{
    Command{"verify", verifyCommand},
    Command{"export", exportCommand},
    Command{"prove", proveCommand},
    Command{"check-proof", checkProofCommand},
    Command{"checkpoint", checkpointCommand},
    Command{"show", showCommand},
    Command{"tail", tailCommand},
    Command{"report", reportCommand},
    Command{"witness", witnessCommand},
    Command{"keygen", keygenCommand},
    Command{"pubkey", pubkeyCommand},
};

constexpr std::string_view kHelp =
    R"(jackpot-audit - verify, read and prove what jackpotd has recorded

Usage:
  jackpot-audit verify JOURNAL|EXPORT     is it what was signed, and what the rules give?
  jackpot-audit export JOURNAL            selected records with their proofs
  jackpot-audit prove SEQ JOURNAL         one record with its proof
  jackpot-audit check-proof RECORD PROOF  is this record in the journal?
  jackpot-audit checkpoint JOURNAL        the latest signed checkpoint, to keep for the next visit
  jackpot-audit show SEQ JOURNAL          one record in words
  jackpot-audit tail JOURNAL              the last records, and those to come
  jackpot-audit report wins|reconciliation|differences JOURNAL
  jackpot-audit report --html FILE JOURNAL all of it on one page, for a browser or on paper
  jackpot-audit witness --listen ...      keep the newest checkpoint on another machine
  jackpot-audit keygen | pubkey           keys to sign with, and what auditors hold of them
  jackpot-audit COMMAND --help            more about a command
  jackpot-audit --help | --version

JOURNAL is the journal's directory, or one or several of its files; a copy, or the one in use.
The verifier key that you hold is given with --key, or in JACKPOT_AUDIT_KEY.
Exit status: 0 good; 1 the journal, the export or the proof does not verify; 2 the command line is
wrong, or something cannot be read or written.
)";

void print(std::string_view text)
{
    FileOutput out;
    out.write(text);
    out.commit();
}

int dispatch(const std::vector<std::string>& arguments, std::string_view version)
{
    if (arguments.empty()) throw Stop{kBadInput, "it takes a command (see jackpot-audit --help)"};
    const std::string& name = arguments[0];
    if (name == "--help" || name == "-h" || name == "help") {
        print(kHelp);
        return kGood;
    }
    if (name == "--version") {
        print("jackpot-audit " + std::string{version} + "\n");
        return kGood;
    }
    const auto command = std::ranges::find(kCommands, name, &Command::name);
    if (command == kCommands.end())
        throw Stop{kBadInput, "unknown command \"" + name + "\" (see jackpot-audit --help)"};
    return command->run({arguments.begin() + 1, arguments.end()});
}

}  // namespace

bool printHelp(const std::vector<std::string>& given, std::string_view help)
{
    for (const std::string& each : given) {
        if (each == "--") return false;
        if (each != "--help" && each != "-h") continue;
        print(help);
        return true;
    }
    return false;
}

void say(const std::string& message)
{
    const std::string line = "jackpot-audit: " + printable(message) + "\n";
    [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, line.data(), line.size());
}

int runAudit(const std::vector<std::string>& arguments, std::string_view version)
{
    try {
        return dispatch(arguments, version);
    } catch (const Stop& stop) {
        say(stop.what());
        return stop.status();
    } catch (const std::overflow_error&) {
        // Money is added up as the records have it, and what is not verified may have anything.
        say("the amounts in these records are beyond what can be: verify the journal");
        return kDoesNotVerify;
    } catch (const std::exception& error) {
        say(std::string{"a fault in this program, please report it: "} + error.what());
        return kBadInput;
    }
}

}  // namespace jackpot::audit
