// jackpotctl journal create, record, rotate-key and archive.
#include <chrono>
#include <iostream>
#include <memory>
#include <thread>

#include "base/printable.h"
#include "storage/journal.h"
#include "storage/verify.h"
#include "tools/cli/command_error.h"
#include "tools/cli/read_file.h"
#include "tools/jackpotctl/commands.h"
#include "tools/jackpotctl/simulate.h"

namespace jackpot::ctl {
namespace {

using storage::Journal;
using storage::JournalError;
using storage::PrivateKey;
using storage::Signer;
using storage::Verifier;
namespace fs = std::filesystem;

constexpr std::size_t kMaxScenarioBytes = 64U << 20U;
constexpr auto kRetryInterval = std::chrono::milliseconds{500};

rules::TimeMs wallClock()
{
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

template <class T>
T must(Result<T, JournalError> result)
{
    if (!result)
        throw cli::CommandError{exitStatusOf(result.error().kind), inWords(result.error())};
    return std::move(*result);
}

template <class T>
T must(Result<T> result)
{
    if (!result) throw cli::CommandError{cli::kBadInput, result.error().message};
    return std::move(*result);
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
        throw cli::CommandError{cli::kBadInput, file.string() + ": there is no journal here"};
    auto reader = storage::JournalReader::open(file);
    const auto note = reader ? reader->lastNote()
                             : storage::SqliteResult<std::optional<std::string>>{reader.error()};
    if (!note)
        throw cli::CommandError{exitStatusOf(JournalError::Kind::Io),
                                file.string() + ": " + note.error().message};
    return must(storage::readCheckpoint(note->value_or(""))).origin;
}

void printResult(const Journal& journal, const std::string& what)
{
    std::cout << printable(what) << "\nverifier key: " << printable(journal.verifier().format())
              << "\n"
              << journal.lastReceipt().note;
}

struct JournalOptions {
    std::string directory;
    std::string scenario;
    std::string key;
    std::string name;
    std::string newKey;
    std::string lostKey;
    std::vector<std::string> by;
    std::uint64_t waitSeconds = 10;
};

Journal createdJournal(const JournalOptions& options)
{
    return must(Journal::create({options.directory, 50'000, {}},
                                signerFrom(options.key, options.name), wallClock()));
}

int create(const JournalOptions& options)
{
    const Journal journal = createdJournal(options);
    printResult(journal, "made " + options.directory);
    return cli::kSuccess;
}

int record(const JournalOptions& options)
{
    const auto scenario = readScenario(cli::readFile(options.scenario, kMaxScenarioBytes));
    if (!scenario) {
        for (const std::string& line : scenario.error().lines)
            std::cerr << printable(options.scenario + ": " + line) << "\n";
        return cli::kBadInput;
    }
    Journal journal = createdJournal(options);
    // The scenario's own times, counted from now.
    const rules::TimeMs start =
        wallClock() - (scenario->events.empty() ? 0 : scenario->events.front().atMs);
    simulate(*scenario, [&](const Step& step, const rules::State&) {
        if (step.command) (void)journal.decide(*step.command, start + step.atMs);
    });
    must(journal.commit());
    printResult(journal,
                "recorded " + std::to_string(journal.size()) + " records in " + options.directory);
    return cli::kSuccess;
}

int rotateKey(const JournalOptions& options)
{
    if (options.lostKey.empty() == options.key.empty())
        throw cli::UsageError{"it takes either --key FILE or --lost VERIFIER_KEY"};
    const fs::path directory = options.directory;
    const std::string name = nameIn(directory);
    Signer next = signerFrom(options.newKey, name);
    const storage::JournalSettings settings{directory, 50'000, {}};
    if (!options.lostKey.empty()) {
        const Journal journal = must(
            Journal::open(settings, std::move(next), wallClock(),
                          storage::LostKey{must(Verifier::parse(options.lostKey)), options.by}));
        printResult(journal, "the key of " + directory.string() +
                                 " is replaced; give this verifier key to the auditors in person");
        return cli::kSuccess;
    }
    Journal journal = must(Journal::open(settings, signerFrom(options.key, name), wallClock()));
    must(journal.rotateKey(std::move(next), options.by, wallClock()));
    printResult(journal, "the key of " + directory.string() + " is changed");
    return cli::kSuccess;
}

int archive(const JournalOptions& options)
{
    using Clock = std::chrono::steady_clock;
    const std::chrono::seconds wait{options.waitSeconds};
    const fs::path directory = options.directory;
    Journal journal = must(Journal::open({directory, 50'000, {}},
                                         signerFrom(options.key, nameIn(directory)), wallClock()));
    const auto until = Clock::now() + wait;
    auto closed = journal.closeSegment(wallClock());
    while (!closed && closed.error().kind == JournalError::Kind::Refused && Clock::now() < until) {
        std::this_thread::sleep_for(kRetryInterval);
        closed = journal.closeSegment(wallClock());
    }
    const fs::path segment = must(std::move(closed));
    printResult(journal, "closed " + segment.string());
    return cli::kSuccess;
}

cli::Command& addJournalCommand(cli::Command& journal, std::shared_ptr<JournalOptions> options,
                                const std::string& name, const std::string& summary,
                                int (*work)(const JournalOptions&))
{
    return journal.add(name, summary)
        .exitStatuses({{0, "done"},
                       {2, "the command line is wrong, or it is refused"},
                       {3, "the disk or a file fails"},
                       {4, "another process has the journal open"},
                       {5, "the journal does not verify"},
                       {6, "the journal is signed with another key"},
                       {7, "a newer version wrote the journal"}})
        .run([options, work] { return work(*options); });
}

constexpr char kDirectoryHelp[] = "the journal's directory";

void addCreateAndRecord(cli::Command& journal)
{
    auto created = std::make_shared<JournalOptions>();
    addJournalCommand(journal, created, "create", "begin a journal in a directory that has none",
                      create)
        .argument("DIRECTORY", created->directory, kDirectoryHelp)
        .option("--key FILE", created->key, "the private key that signs")
        .required()
        .option("--name NAME", created->name, "the name that was given to jackpot-audit keygen")
        .required();

    auto recorded = std::make_shared<JournalOptions>();
    addJournalCommand(journal, recorded, "record",
                      "begin a journal with the commands of a scenario, to try the auditors' tools",
                      record)
        .argument("SCENARIO", recorded->scenario, "a scenario as docs/scenarios.md describes")
        .argument("DIRECTORY", recorded->directory, kDirectoryHelp)
        .option("--key FILE", recorded->key, "the private key that signs")
        .required()
        .option("--name NAME", recorded->name, "the name that was given to jackpot-audit keygen")
        .required();
}

}  // namespace

void addJournalCommands(cli::Command& program)
{
    cli::Command& journal = program.add("journal", "create a journal, change its key, archive it");
    journal
        .describe(
            "No daemon may have the journal open: a second process is refused. Keys are made with "
            "jackpot-audit keygen.")
        .exitStatuses({{0, "done"},
                       {2, "the command line is wrong, or it is refused"},
                       {3, "the disk or a file fails"},
                       {4, "another process has the journal open"},
                       {5, "the journal does not verify"},
                       {6, "the journal is signed with another key"},
                       {7, "a newer version wrote the journal"}});
    addCreateAndRecord(journal);

    auto rotated = std::make_shared<JournalOptions>();
    addJournalCommand(journal, rotated, "rotate-key", "sign with another key from now on",
                      rotateKey)
        .usage("DIRECTORY --key FILE --new-key FILE --by PERSON")
        .usage("DIRECTORY --lost VERIFIER_KEY --new-key FILE --by PERSON --by PERSON")
        .describe(
            "The old key signs the change too. If it is lost, two people vouch for the new one, "
            "and "
            "its verifier key must be given to the auditors in another way.")
        .argument("DIRECTORY", rotated->directory, kDirectoryHelp)
        .option("--key FILE", rotated->key, "the private key that has signed so far")
        .option("--lost VERIFIER_KEY", rotated->lostKey,
                "the verifier key of a private key that was lost")
        .option("--new-key FILE", rotated->newKey,
                "the private key that signs from now on, made with the same name")
        .required()
        .option("--by PERSON", rotated->by, "a person who does this")
        .required();

    auto archived = std::make_shared<JournalOptions>();
    addJournalCommand(journal, archived, "archive",
                      "close the file into a read-only segment and continue in a new one", archive)
        .describe(
            "The new file continues the sequence and the tree. The command waits for readers of "
            "the "
            "file, such as jackpot-audit verify.")
        .argument("DIRECTORY", archived->directory, kDirectoryHelp)
        .option("--key FILE", archived->key, "the private key that signs")
        .required()
        .number("--wait SECONDS", archived->waitSeconds, {0, 86'400},
                "the longest wait for readers");
}

}  // namespace jackpot::ctl
