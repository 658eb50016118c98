#include "tools/jackpotctl/backup_command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <optional>

#include "base/printable.h"
#include "config/config.h"
#include "storage/backup.h"
#include "storage/journal.h"
#include "tools/jackpot-audit/cli.h"
#include "tools/jackpot-audit/output.h"
#include "tools/jackpot-audit/verification.h"
#include "tools/jackpotctl/kept_checkpoint.h"

namespace jackpot::tools {
namespace {

using audit::Arguments;
using audit::Option;
using audit::Stop;
using storage::JournalError;
using storage::Verified;
using storage::Verifier;
namespace fs = std::filesystem;

constexpr std::string_view kBackupHelp =
    R"(jackpotctl backup - a verified copy of the journal, also while the daemon runs

Usage:
  jackpotctl backup [--config FILE | --journal DIRECTORY] [--key VKEY] DIRECTORY

Copies all files of the journal, and the accounts of the desk (people.db), into a new DIRECTORY: what was
committed when it began. The daemon is not held up; it cannot close a segment meanwhile. The copy is made as
DIRECTORY.unfinished, synced, verified as jackpot-audit verify does, and only then given its name: it is there
whole or not at all. Prints the checkpoint that it ends with: keep that elsewhere, too.

Private keys are not in it: neither the journal's, nor the certificates', nor the secret for player cards. Keep
them apart. search.db is not in it either: the daemon makes it anew.

Options:
  --config FILE        whose journal; /etc/jackpotd/jackpotd.toml unless given
  --journal DIRECTORY  the journal itself
  --key VKEY           the verifier key that you hold, or @FILE; several allowed; else JACKPOT_AUDIT_KEY; else
                       the one that the journal names itself, which shows damage, but not a forgery
  --help               print this

Exit status: 0 done; 1 the copy does not verify; 2 the command line is wrong, or it is refused; 3 the disk or
file fails; 4 another backup is being made there; 5 the journal is damaged; 7 a newer version wrote it.
Unless it is 0, there is no DIRECTORY.
)";

constexpr std::string_view kRestoreHelp =
    R"(jackpotctl restore - put a backup where the daemon will find it

Usage:
  jackpotctl restore --to DIRECTORY [--key VKEY] [--witness FILE]... [--although-behind] BACKUP

Copies BACKUP to DIRECTORY, which is not there or empty, verifies the copy, and only then gives it its name.
BACKUP is a directory made by jackpotctl backup, or any other copy of a whole journal.

A backup that is behind a witness lacks what the daemon has acknowledged since: it is refused. Look for a newer
copy first. Where there is none, --although-behind restores it all the same; the daemon then decides nothing until an
administrator and an inspector have accepted the loss (jackpotctl accept-restore). It does the same as soon as a
table shows that it has seen more. docs/backup.md has all of it, step by step.

Options:
  --to DIRECTORY      where the journal shall be
  --witness FILE      a checkpoint that was kept elsewhere: by jackpot-audit witness, by the daemon's [witness]
                      file, or by an auditor after verifying; several allowed
  --although-behind   restore a backup that is behind a witness
  --key VKEY          the verifier key that you hold, or @FILE; several allowed; else JACKPOT_AUDIT_KEY; else the
                      one that the backup names itself, which shows damage, but not a forgery
  --help              print this

Exit status: 0 done; 1 the backup does not verify, is behind a witness or has another history than one; 2 the
command line is wrong, or it is refused; 3 the disk or file fails; 4 another process restores there; 5 the backup
is damaged; 7 a newer version wrote it. Unless it is 0, DIRECTORY is as it was.
)";

template <class T>
T must(storage::SqliteResult<T> result)
{
    if (!result) throw Stop{exitStatusOf(JournalError::Kind::Io), result.error().message};
    return std::move(*result);
}

void must(const Result<void, JournalError>& done)
{
    if (!done) throw Stop{exitStatusOf(done.error().kind), inWords(done.error())};
}

constexpr std::string_view kLockName = "journal.lock";

// Becomes the directory `name` when all of it is there, and is nothing until then. What one that
// was cut off has left is removed first.
class Unfinished {
public:
    explicit Unfinished(const fs::path& name)
        : name_{name.has_filename() ? name : name.parent_path()},
          path_{name_.string() + ".unfinished"}
    {
        requireFree();
        std::error_code error;
        fs::create_directories(path_, error);
        if (error) throw Stop{3, path_.string() + ": " + error.message()};
        auto lock = storage::JournalLock::take(path_);
        if (!lock) throw Stop{exitStatusOf(lock.error().kind), inWords(lock.error())};
        lock_.emplace(std::move(*lock));
        for (const auto& entry : fs::directory_iterator{path_})
            if (entry.path().filename() != kLockName) fs::remove_all(entry.path());
        fs::permissions(path_, fs::perms{0750});
    }
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;
    ~Unfinished()
    {
        std::error_code ignored;
        if (!finished_) fs::remove_all(path_, ignored);
    }

    [[nodiscard]] const fs::path& path() const { return path_; }

    void finish()
    {
        // Only an empty directory can be replaced in this way. The lock goes with it, so that
        // nobody takes this for something unfinished meanwhile.
        if (::rename(path_.c_str(), name_.c_str()) != 0) {
            const int error = errno;
            requireFree();
            throw Stop{3, name_.string() + ": " + audit::systemError(error)};
        }
        finished_ = true;
        fs::remove(name_ / kLockName);
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
            throw Stop{audit::kBadInput,
                       name_.string() +
                           ": it is there already, and nothing is overwritten: name "
                           "another, or move it away"};
    }

    fs::path name_;
    fs::path path_;
    std::optional<storage::JournalLock> lock_;
    bool finished_ = false;
};

// What the journal's first record says that it is signed with.
std::vector<Verifier> ownKey(const fs::path& directory)
{
    if (auto reader = storage::JournalReader::open(storage::filesOf(directory).front())) {
        const auto payload = reader->payload(reader->firstSeq());
        const auto record =
            payload && *payload ? storage::readRecord(**payload) : Result<storage::Record>{Error{}};
        const auto key = Verifier::parse(record ? record->key : "");
        if (key) return {*key};
    }
    throw Stop{audit::kDoesNotVerify,
               directory.string() + ": it does not say what it is signed with: give --key"};
}

struct Copied {
    Verified verified;
    std::vector<Verifier> keys;
    bool ownKey = false;
};

// What the witnesses have seen that the copy has too, as it says; verifying it shows whether.
std::vector<Witnessed> seenOf(const fs::path& from, const fs::path& copy,
                              const std::vector<fs::path>& witnesses,
                              const std::vector<Verifier>& keys, bool althoughBehind)
{
    std::vector<Witnessed> seen;
    std::uint64_t most = 0;
    auto reader = must(storage::JournalReader::open(copy / storage::kJournalName));
    const std::uint64_t end = must(reader.lastSize());
    for (const fs::path& file : witnesses) {
        Witnessed newest = newestIn(file, keys);
        const std::uint64_t size = newest.checkpoint.size;
        const std::string both = from.string() + " has " + std::to_string(end) + " records, " +
                                 file.string() + " has seen " + std::to_string(size);
        if (size <= end) {
            std::cout << printable(both) << "\n";
            seen.push_back(std::move(newest));
        } else if (althoughBehind) {
            std::cerr << "jackpotctl: " << printable(both) << ": " << size - end
                      << " records are lost with it\n";
            if (size > most) must(storage::keepWitnessed(copy, newest.note));
            most = std::max(most, size);
        } else {
            throw Stop{audit::kDoesNotVerify,
                       both + ": look for a newer copy first (see jackpotctl restore --help)"};
        }
    }
    return seen;
}

Copied copyAndVerify(const fs::path& from, const Unfinished& to, const Arguments& arguments,
                     const std::vector<fs::path>& witnesses)
{
    {
        audit::Progress progress{"copying"};
        must(storage::copyJournal(from, to.path(), [&](std::uint64_t done, std::uint64_t total) {
            audit::stopIfInterrupted();
            progress.show(done, total);
        }));
    }
    Copied copied;
    copied.keys = trustedKeys(arguments);
    copied.ownKey = copied.keys.empty();
    if (copied.ownKey) copied.keys = ownKey(to.path());
    std::vector<std::optional<std::string>> since;
    for (Witnessed& each :
         seenOf(from, to.path(), witnesses, copied.keys, arguments.has("--although-behind")))
        since.emplace_back(std::move(each.note));
    if (since.empty()) since.emplace_back();
    for (const auto& each : since) {
        auto verification = audit::verifyWhole({to.path()}, copied.keys, each);
        if (!verification.result)
            throw Stop{audit::kDoesNotVerify, from.string() + ": it does NOT verify: " +
                                                  inWords(verification.result.error()) +
                                                  ": keep it as it is, and call an inspector"};
        copied.verified = std::move(*verification.result);
    }
    return copied;
}

void say(const std::string& what, const Copied& copied)
{
    std::cout << printable(what) << ": " << audit::grouped(copied.verified.end)
              << " records, each verified\n";
    if (copied.ownKey)
        std::cout << "verified with the key that it names itself: give --key to know that it is "
                     "yours\n";
    for (const std::string& remark : copied.verified.remarks)
        std::cout << "remark: " << printable(remark) << "\n";
}

int backup(const Arguments& arguments)
{
    arguments.requirePositional(1, 1, "one DIRECTORY");
    if (arguments.has("--config") && arguments.has("--journal"))
        arguments.refuse("takes --config or --journal, not both");
    fs::path journal = arguments.value("--journal").value_or("");
    if (journal.empty()) {
        const auto config =
            config::load(arguments.value("--config").value_or("/etc/jackpotd/jackpotd.toml"));
        if (!config) {
            for (const config::ConfigProblem& problem : config.error())
                std::cerr << inWords(problem) << "\n";
            return audit::kBadInput;
        }
        journal = config->journal.directory;
    }
    audit::rememberInterrupts();
    Unfinished made{arguments.positional()[0]};
    const Copied copied = copyAndVerify(journal, made, arguments, {});
    made.finish();
    say("backed up to " + arguments.positional()[0], copied);
    std::cout << "Private keys are not in it: keep them apart.\n\n" << copied.verified.lastNote;
    return EXIT_SUCCESS;
}

int restore(const Arguments& arguments)
{
    arguments.requirePositional(1, 1, "one BACKUP");
    const auto to = arguments.value("--to");
    if (!to) arguments.refuse("--to DIRECTORY is needed");
    std::vector<fs::path> witnesses;
    for (const std::string& each : arguments.values("--witness")) witnesses.emplace_back(each);
    audit::rememberInterrupts();
    Unfinished made{*to};
    const Copied copied = copyAndVerify(arguments.positional()[0], made, arguments, witnesses);
    made.finish();
    say("restored to " + *to, copied);
    if (!witnesses.empty())
        std::cout << "what the witnesses have seen of it is the same history\n";
    else
        std::cout << "No witness was given: whether anyone has seen more than this could not be "
                     "checked.\n";
    std::cout
        << "What tables have seen could not be checked here: the daemon does when they connect, "
           "and locks if\none has seen more (see jackpotctl accept-restore --help).\n\n"
        << copied.verified.lastNote;
    return EXIT_SUCCESS;
}

}  // namespace

int backupCommand(const std::string& command, const std::vector<std::string>& given)
{
    const bool isBackup = command == "backup";
    std::vector<Option> options{audit::kKeyOption, {"--help", Option::Form::Flag}};
    if (isBackup) {
        options.push_back({"--config", Option::Form::Value});
        options.push_back({"--journal", Option::Form::Value});
    } else {
        options.push_back({"--to", Option::Form::Value});
        options.push_back({"--witness", Option::Form::Values});
        options.push_back({"--although-behind", Option::Form::Flag});
    }
    try {
        const Arguments arguments{command, given, options, "jackpotctl"};
        if (arguments.has("--help")) {
            std::cout << (isBackup ? kBackupHelp : kRestoreHelp);
            return EXIT_SUCCESS;
        }
        return isBackup ? backup(arguments) : restore(arguments);
    } catch (const Stop& stop) {
        std::cerr << "jackpotctl: " << printable(stop.what()) << "\n";
        return stop.status();
    } catch (const fs::filesystem_error& error) {
        std::cerr << "jackpotctl: " << printable(error.what()) << "\n";
    }
    return exitStatusOf(JournalError::Kind::Io);
}

}  // namespace jackpot::tools
