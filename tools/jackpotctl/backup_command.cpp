// jackpotctl backup and restore.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "base/printable.h"
#include "storage/backup.h"
#include "storage/journal.h"
#include "tools/cli/command_error.h"
#include "tools/cli/interrupts.h"
#include "tools/cli/journal_verification.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/cli/verifier_keys.h"
#include "tools/jackpotctl/commands.h"
#include "tools/jackpotctl/kept_checkpoint.h"
#include "tools/jackpotctl/loaded_config.h"

namespace jackpot::ctl {
namespace {

using storage::JournalError;
using storage::Verified;
using storage::Verifier;
namespace fs = std::filesystem;

constexpr int kIoStatus = 3;

template <class T>
T must(storage::SqliteResult<T> result)
{
    if (!result) throw cli::CommandError{kIoStatus, result.error().message};
    return std::move(*result);
}

void must(const Result<void, JournalError>& done)
{
    if (!done) throw cli::CommandError{exitStatusOf(done.error().kind), inWords(done.error())};
}

struct CopyOptions {
    std::string from;
    std::string to;
    std::string config = kDefaultConfig;
    std::vector<std::string> keys;
    std::vector<std::string> witnesses;
    bool acceptLostRecords = false;
};

// A directory that gets its name when it is complete, and is removed otherwise. Removes the remains
// of an earlier command that was killed.
class UnfinishedDirectory {
public:
    explicit UnfinishedDirectory(const fs::path& name)
        : name_{name.has_filename() ? name : name.parent_path()},
          path_{name_.string() + ".unfinished"}
    {
        requireFree();
        std::error_code error;
        fs::create_directories(path_, error);
        if (error) throw cli::CommandError{kIoStatus, path_.string() + ": " + error.message()};
        auto lock = storage::JournalLock::take(path_);
        if (!lock) throw cli::CommandError{exitStatusOf(lock.error().kind), inWords(lock.error())};
        lock_.emplace(std::move(*lock));
        for (const auto& entry : fs::directory_iterator{path_})
            if (entry.path().filename() != storage::kLockName) fs::remove_all(entry.path());
        fs::permissions(path_, fs::perms{0750});
    }
    UnfinishedDirectory(const UnfinishedDirectory&) = delete;
    UnfinishedDirectory& operator=(const UnfinishedDirectory&) = delete;
    ~UnfinishedDirectory()
    {
        std::error_code ignored;
        if (!finished_) fs::remove_all(path_, ignored);
    }

    [[nodiscard]] const fs::path& path() const { return path_; }

    void finish()
    {
        // rename() replaces only an empty directory. The lock moves with it, so that no other
        // command removes this one as unfinished.
        if (::rename(path_.c_str(), name_.c_str()) != 0) {
            const int error = errno;
            requireFree();
            throw cli::CommandError{kIoStatus, name_.string() + ": " + audit::systemError(error)};
        }
        finished_ = true;
        fs::remove(name_ / storage::kLockName);
        must(storage::syncDirectory(name_));
        must(storage::syncDirectory(name_.parent_path()));
    }

private:
    void requireFree() const
    {
        std::error_code error;
        const bool free = !fs::exists(fs::symlink_status(name_, error)) ||
                          (fs::is_directory(name_, error) && fs::is_empty(name_, error));
        if (!free)
            throw cli::CommandError{cli::kBadInput,
                                    name_.string() +
                                        ": it exists already, and nothing is overwritten: choose "
                                        "another name, or move it away"};
    }

    fs::path name_;
    fs::path path_;
    std::optional<storage::JournalLock> lock_;
    bool finished_ = false;
};

// The key that the journal's first record names.
std::vector<Verifier> ownKey(const fs::path& directory)
{
    if (auto reader = storage::JournalReader::open(storage::filesOf(directory).front())) {
        const auto payload = reader->payload(reader->firstSeq());
        const auto record =
            payload && *payload ? storage::readRecord(**payload) : Result<storage::Record>{Error{}};
        const auto key = Verifier::parse(record ? record->key : "");
        if (key) return {*key};
    }
    throw cli::CommandError{cli::kDoesNotVerify,
                            directory.string() + ": its first record names no key: give --key"};
}

struct Copied {
    Verified verified;
    std::vector<Verifier> keys;
    bool ownKey = false;
};

// The kept checkpoints that the copy claims to contain; verifying the copy against them checks
// that. A checkpoint beyond the end of the copy means lost records.
std::vector<KeptCheckpoint> checkpointsWithin(const fs::path& from, const fs::path& copy,
                                              const CopyOptions& options,
                                              const std::vector<Verifier>& keys)
{
    std::vector<KeptCheckpoint> seen;
    std::uint64_t most = 0;
    auto reader = must(storage::JournalReader::open(copy / storage::kJournalName));
    const std::uint64_t end = must(reader.lastSize());
    for (const fs::path file : options.witnesses) {
        KeptCheckpoint newest = newestIn(file, keys);
        const std::uint64_t size = newest.checkpoint.size;
        const std::string both = from.string() + " has " + std::to_string(end) + " records, " +
                                 file.string() + " has seen " + std::to_string(size);
        if (size <= end) {
            std::cout << printable(both) << "\n";
            seen.push_back(std::move(newest));
        } else if (options.acceptLostRecords) {
            std::cerr << "jackpotctl: " << printable(both) << ": " << size - end
                      << " records are lost with it\n";
            if (size > most) must(storage::keepWitnessed(copy, newest.note));
            most = std::max(most, size);
        } else {
            throw cli::CommandError{cli::kDoesNotVerify,
                                    both +
                                        ": look for a newer copy first. If there is none, use "
                                        "--accept-lost-records (see jackpotctl restore --help)"};
        }
    }
    return seen;
}

Copied copyAndVerify(const fs::path& from, const UnfinishedDirectory& to,
                     const CopyOptions& options)
{
    {
        cli::Progress progress{"copying"};
        must(storage::copyJournal(from, to.path(), [&](std::uint64_t done, std::uint64_t total) {
            cli::throwIfInterrupted();
            progress.show(done, total);
        }));
    }
    Copied copied;
    copied.keys = cli::trustedKeys(options.keys);
    copied.ownKey = copied.keys.empty();
    if (copied.ownKey) copied.keys = ownKey(to.path());
    std::vector<std::optional<std::string>> since;
    for (KeptCheckpoint& each : checkpointsWithin(from, to.path(), options, copied.keys))
        since.emplace_back(std::move(each.note));
    if (since.empty()) since.emplace_back();
    for (const auto& each : since) {
        auto verification = cli::verifyWhole({to.path()}, copied.keys, each);
        if (!verification.result)
            throw cli::CommandError{
                cli::kDoesNotVerify,
                from.string() + ": it does NOT verify: " + inWords(verification.result.error()) +
                    ": keep it as it is, and call an inspector"};
        copied.verified = std::move(*verification.result);
    }
    return copied;
}

void printResult(const std::string& what, const Copied& copied)
{
    std::cout << printable(what) << ": " << audit::grouped(copied.verified.end)
              << " records, each verified\n";
    if (copied.ownKey)
        std::cout << "verified with the key that it names itself: give --key to know that it is "
                     "yours\n";
    for (const std::string& remark : copied.verified.remarks)
        std::cout << "remark: " << printable(remark) << "\n";
}

int backup(const CopyOptions& options)
{
    const fs::path journal = options.from.empty() ? loadedConfig(options.config).journal.directory
                                                  : fs::path{options.from};
    cli::catchInterrupts();
    UnfinishedDirectory made{options.to};
    const Copied copied = copyAndVerify(journal, made, options);
    made.finish();
    printResult("backed up to " + options.to, copied);
    std::cout << "Private keys are not in it: keep them apart.\n\n" << copied.verified.lastNote;
    return cli::kSuccess;
}

int restore(const CopyOptions& options)
{
    cli::catchInterrupts();
    UnfinishedDirectory made{options.to};
    const Copied copied = copyAndVerify(options.from, made, options);
    made.finish();
    printResult("restored to " + options.to, copied);
    if (!options.witnesses.empty())
        std::cout << "what the witnesses have seen of it is the same history\n";
    else
        std::cout << "No witness was given: whether anyone has seen more than this could not be "
                     "checked.\n";
    std::cout
        << "What tables have seen could not be checked here: the daemon does when they connect, "
           "and locks if\none has seen more (see jackpotctl accept-restore --help).\n\n"
        << copied.verified.lastNote;
    return cli::kSuccess;
}

// Disk errors have a status of their own.
int guardDisk(const CopyOptions& options, int (*work)(const CopyOptions&))
{
    try {
        return work(options);
    } catch (const fs::filesystem_error& error) {
        throw cli::CommandError{kIoStatus, error.what()};
    }
}

constexpr char kCopyKeyHelp[] =
    "the verifier key that you hold, or @FILE; else JACKPOT_AUDIT_KEY; else the key that the "
    "journal "
    "names, which shows damage, but not a forgery";

}  // namespace

void addBackupAndRestore(cli::Command& program)
{
    auto made = std::make_shared<CopyOptions>();
    program.add("backup", "make a verified copy of the journal, also while the daemon runs")
        .describe(
            "Copies all files of the journal, and the accounts of the desk (people.db), into a new "
            "DIRECTORY: the records that are committed when the command begins. The daemon does "
            "not "
            "wait for it, but cannot close a segment meanwhile. The copy is made as "
            "DIRECTORY.unfinished, synced, verified as jackpot-audit verify does, and only then "
            "renamed: DIRECTORY is complete or absent. Prints the last checkpoint: keep that in "
            "another place, too.\n\nPrivate keys are not copied: neither the journal's, nor the "
            "certificates', nor the secret for player cards. Keep them apart. search.db is not "
            "copied: the daemon makes it again.")
        .argument("DIRECTORY", made->to, "the new directory")
        .option("--config FILE", made->config,
                "the daemon's configuration, which names the journal")
        .option("--journal DIRECTORY", made->from, "the journal itself")
        .exclusive("--config", "--journal")
        .option("--key VKEY", made->keys, kCopyKeyHelp)
        .exitStatuses({{0, "done"},
                       {1, "the copy does not verify; there is no DIRECTORY"},
                       {2, "the command line is wrong, or it is refused"},
                       {3, "the disk or a file fails"},
                       {4, "another backup is being made there"},
                       {5, "the journal is damaged"},
                       {7, "a newer version wrote the journal"}})
        .example("jackpotctl backup /backup/2026-05-01")
        .run([made] { return guardDisk(*made, backup); });

    auto restored = std::make_shared<CopyOptions>();
    program.add("restore", "restore a backup")
        .describe(
            "Copies BACKUP to DIRECTORY, which must be absent or empty, verifies the copy, and "
            "only "
            "then renames it. BACKUP is a directory made by jackpotctl backup, or any other copy "
            "of "
            "a whole journal.\n\nA backup that is behind a witness lacks records that the daemon "
            "has acknowledged since: it is refused. Look for a newer copy first. If there is none, "
            "--accept-lost-records restores it; the daemon then decides nothing until an "
            "administrator and an inspector have accepted the loss (jackpotctl accept-restore). "
            "The "
            "daemon also locks itself when a table has a receipt for a record that is missing. "
            "docs/backup.md describes the steps.")
        .argument("BACKUP", restored->from, "the backup's directory")
        .option("--to DIRECTORY", restored->to, "the directory for the journal")
        .required()
        .option("--witness FILE", restored->witnesses,
                "a checkpoint that was kept elsewhere: by jackpot-audit witness, by the daemon's "
                "[witness] file, or by an auditor after verifying")
        .flag("--accept-lost-records", restored->acceptLostRecords,
              "restore a backup that is behind a witness")
        .option("--key VKEY", restored->keys, kCopyKeyHelp)
        .exitStatuses({{0, "done"},
                       {1,
                        "the backup does not verify, is behind a witness or has another history; "
                        "DIRECTORY is unchanged"},
                       {2, "the command line is wrong, or it is refused"},
                       {3, "the disk or a file fails"},
                       {4, "another process restores there"},
                       {5, "the backup is damaged"},
                       {7, "a newer version wrote the backup"}})
        .run([restored] { return guardDisk(*restored, restore); });
}

}  // namespace jackpot::ctl
