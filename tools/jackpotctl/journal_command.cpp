#include "tools/jackpotctl/journal_command.h"

#include <chrono>
#include <iostream>
#include <thread>

#include "base/printable.h"
#include "storage/journal.h"
#include "storage/verify.h"
#include "tools/jackpot-audit/cli.h"
#include "tools/jackpotctl/simulate.h"

namespace jackpot::tools {
namespace {

using audit::Arguments;
using audit::Option;
using audit::Stop;
using storage::Journal;
using storage::JournalError;
using storage::PrivateKey;
using storage::Signer;
using storage::Verifier;
namespace fs = std::filesystem;

constexpr std::size_t kMaxScenarioBytes = 64U << 20U;
constexpr std::uint64_t kWaitSeconds = 10;
constexpr auto kBetweenTries = std::chrono::milliseconds{500};

constexpr std::string_view kHelp =
    R"(jackpotctl journal - make a journal, change its key, archive it

Usage:
  jackpotctl journal create --key FILE --name NAME DIRECTORY
  jackpotctl journal record --key FILE --name NAME SCENARIO DIRECTORY
  jackpotctl journal rotate-key --key FILE --new-key FILE --by WHO [--by WHO]... DIRECTORY
  jackpotctl journal rotate-key --lost VERIFIER_KEY --new-key FILE --by WHO --by WHO DIRECTORY
  jackpotctl journal archive --key FILE [--wait SECONDS] DIRECTORY

create      begins a journal in a directory that has none
record      begins one and enters what happens in a scenario (docs/scenarios.md), to try the auditors'
            tools on
rotate-key  signs from here on with another key. The old key signs the change too; where it is lost, two
            people vouch for the new one, and its verifier key must be handed to auditors by another way
archive     closes the file into a read-only segment and goes on in a new one, with the same sequence
            and the same tree; waits for those who read the file, such as jackpot-audit verify

No daemon may have the journal open: a second process is refused. Keys are made with jackpot-audit keygen.

Options:
  --key FILE      the private key that signs
  --name NAME     the name that the key has had since jackpot-audit keygen
  --new-key FILE  the private key that signs from here on, made with the same name
  --lost KEY      the verifier key of the key that was lost
  --by WHO        who does this
  --wait SECONDS  how long to wait for readers, 10 unless given
  --help          print this

Exit status: 0 done; 2 the command line is wrong, or it is refused; 3 the disk or file fails;
4 another process has the journal open; 5 it does not verify; 6 it is signed with another key;
7 a newer version wrote it
)";

rules::TimeMs wallClock()
{
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

template <class T>
T must(Result<T, JournalError> result)
{
    if (!result) throw Stop{exitStatusOf(result.error().kind), inWords(result.error())};
    return std::move(*result);
}

template <class T>
T must(Result<T> result)
{
    if (!result) throw Stop{audit::kBadInput, result.error().message};
    return std::move(*result);
}

std::string required(const Arguments& arguments, std::string_view option)
{
    auto value = arguments.value(option);
    if (!value) arguments.refuse(std::string{option} + " is needed");
    return *value;
}

Signer signerFrom(const std::string& keyFile, const std::string& name)
{
    return must(Signer::make(name, must(PrivateKey::load(keyFile))));
}

// The name that the journal's checkpoints carry.
std::string nameIn(const fs::path& directory)
{
    const auto files = storage::filesOf(directory);
    const fs::path file = files.empty() ? directory / storage::kJournalName : files.back();
    std::error_code ignored;
    if (!fs::exists(file, ignored))
        throw Stop{audit::kBadInput, file.string() + ": there is no journal here"};
    auto reader = storage::JournalReader::open(file);
    const auto note = reader ? reader->lastNote()
                             : storage::SqliteResult<std::optional<std::string>>{reader.error()};
    if (!note)
        throw Stop{exitStatusOf(JournalError::Kind::Io),
                   file.string() + ": " + note.error().message};
    return must(storage::readCheckpoint(note->value_or(""))).origin;
}

void say(const Journal& journal, const std::string& what)
{
    std::cout << printable(what) << "\nverifier key: " << printable(journal.verifier().format())
              << "\n"
              << journal.lastReceipt().note;
}

Journal create(const Arguments& arguments, const fs::path& directory)
{
    const std::string key = required(arguments, "--key");
    return must(Journal::create({directory, 50'000, {}},
                                signerFrom(key, required(arguments, "--name")), wallClock()));
}

int createCommand(const Arguments& arguments)
{
    arguments.requirePositional(1, 1, "the DIRECTORY");
    const Journal journal = create(arguments, arguments.positional()[0]);
    say(journal, "made " + arguments.positional()[0]);
    return EXIT_SUCCESS;
}

int recordCommand(const Arguments& arguments)
{
    arguments.requirePositional(2, 2, "a SCENARIO and the DIRECTORY");
    const std::string& file = arguments.positional()[0];
    const auto scenario = readScenario(audit::readFile(file, kMaxScenarioBytes));
    if (!scenario) {
        for (const std::string& line : scenario.error().lines)
            std::cerr << printable(file + ": " + line) << "\n";
        return audit::kBadInput;
    }
    Journal journal = create(arguments, arguments.positional()[1]);
    // The scenario's own times, counted from now.
    const rules::TimeMs start =
        wallClock() - (scenario->events.empty() ? 0 : scenario->events.front().atMs);
    simulate(*scenario, [&](const Step& step, const rules::State&) {
        if (step.command) (void)journal.decide(*step.command, start + step.atMs);
    });
    must(journal.commit());
    say(journal,
        "recorded " + std::to_string(journal.size()) + " records in " + arguments.positional()[1]);
    return EXIT_SUCCESS;
}

int rotateCommand(const Arguments& arguments)
{
    arguments.requirePositional(1, 1, "the DIRECTORY");
    const fs::path directory = arguments.positional()[0];
    const std::vector<std::string> by = arguments.values("--by");
    if (by.empty()) arguments.refuse("--by WHO is needed");
    const auto lost = arguments.value("--lost");
    if (lost.has_value() == arguments.has("--key"))
        arguments.refuse("takes either --key FILE or --lost VERIFIER_KEY");

    const std::string name = nameIn(directory);
    Signer next = signerFrom(required(arguments, "--new-key"), name);
    const storage::JournalSettings settings{directory, 50'000, {}};
    if (lost) {
        const Journal journal =
            must(Journal::open(settings, std::move(next), wallClock(),
                               storage::LostKey{must(Verifier::parse(*lost)), by}));
        say(journal, "the key of " + directory.string() +
                         " is replaced; hand this verifier key to the auditors by another way");
        return EXIT_SUCCESS;
    }
    Journal journal =
        must(Journal::open(settings, signerFrom(*arguments.value("--key"), name), wallClock()));
    must(journal.rotateKey(std::move(next), by, wallClock()));
    say(journal, "the key of " + directory.string() + " is changed");
    return EXIT_SUCCESS;
}

int archiveCommand(const Arguments& arguments)
{
    using Clock = std::chrono::steady_clock;
    arguments.requirePositional(1, 1, "the DIRECTORY");
    const std::chrono::seconds wait{arguments.number("--wait", 0, 86'400, kWaitSeconds)};
    const fs::path directory = arguments.positional()[0];
    Journal journal = must(
        Journal::open({directory, 50'000, {}},
                      signerFrom(required(arguments, "--key"), nameIn(directory)), wallClock()));
    const auto until = Clock::now() + wait;
    auto closed = journal.closeSegment(wallClock());
    while (!closed && closed.error().kind == JournalError::Kind::Refused && Clock::now() < until) {
        std::this_thread::sleep_for(kBetweenTries);
        closed = journal.closeSegment(wallClock());
    }
    const fs::path segment = must(std::move(closed));
    say(journal, "closed " + segment.string());
    return EXIT_SUCCESS;
}

}  // namespace

int journalCommand(const std::vector<std::string>& given)
{
    const std::string command = given.empty() ? "" : given[0];
    if (command == "--help" || command == "-h" || (given.size() > 1 && given[1] == "--help")) {
        std::cout << kHelp;
        return EXIT_SUCCESS;
    }
    const std::vector<std::string> rest(given.begin() + (given.empty() ? 0 : 1), given.end());
    const auto parsed = [&](const std::vector<Option>& options) {
        return Arguments{"journal " + command, rest, options, "jackpotctl"};
    };
    constexpr Option kKey{"--key", Option::Form::Value};
    constexpr Option kName{"--name", Option::Form::Value};
    try {
        if (command == "create") return createCommand(parsed({kKey, kName}));
        if (command == "record") return recordCommand(parsed({kKey, kName}));
        if (command == "rotate-key")
            return rotateCommand(parsed({kKey,
                                         {"--new-key", Option::Form::Value},
                                         {"--lost", Option::Form::Value},
                                         {"--by", Option::Form::Values}}));
        if (command == "archive")
            return archiveCommand(parsed({kKey, {"--wait", Option::Form::Value}}));
        throw Stop{
            audit::kBadInput,
            "journal: takes create, record, rotate-key or archive (see jackpotctl journal --help)"};
    } catch (const Stop& stop) {
        std::cerr << "jackpotctl: " << printable(stop.what()) << "\n";
        return stop.status();
    }
}

}  // namespace jackpot::tools
