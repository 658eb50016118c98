// The journal as a file: rows, checkpoints, tree nodes and snapshots in SQLite.
// docs/journal-format.md is the contract with everyone who reads it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "storage/file_names.h"
#include "storage/journal_reader.h"
#include "storage/keys.h"
#include "storage/merkle.h"
#include "storage/note.h"
#include "storage/record.h"
#include "storage/sqlite.h"

namespace jackpot::storage {

// Why a journal is not opened or not written.
struct JournalError {
    enum class Kind : std::uint8_t {
        Io,           // the disk or the file system: full, broken, read-only, replaced
        Locked,       // another process has it
        NotVerified,  // what is there is not what was signed
        BadKey,       // it is signed with another key
        Refused,      // asked for what cannot be, such as opening a journal that does not exist
        Newer,        // a newer version of this program wrote it
    };
    Kind kind = Kind::Io;
    std::string message;
    std::optional<std::uint64_t> seq;  // the record in question
};

// "record 17: the record cannot be read", for people.
std::string inWords(const JournalError& error);

// What a program that cannot go on exits with: 2 refused, 3 I/O, 4 locked, 5 not verified, 6
// another key, 7 written by a newer version.
int exitStatusOf(JournalError::Kind kind);

struct Receipt {
    std::uint64_t size = 0;  // the tree's; the last record acknowledged is the one before
    Hash root;
    std::string note;  // the signed checkpoint
};

// Which file a name stood for.
struct FileIdentity {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const FileIdentity&) const = default;
};

// Nothing where there is no such file.
std::optional<FileIdentity> identityOf(const std::filesystem::path& path);

// Writes. The only connection that does; one thread at a time.
class JournalFile {
public:
    // Makes a new file that starts at `start` and has no record yet; it must not be there.
    static Result<void, JournalError> create(const std::filesystem::path& file,
                                             const Frontier& start, const std::string& vfs = {});

    // Rolls back a change between the two kinds of log that a crash left half-done; a reader, who
    // may not write, could not open the file.
    static Result<void, JournalError> rollBack(const std::filesystem::path& file,
                                               const std::string& vfs = {});

    // Opens for appending after `end`, which the caller has verified.
    static Result<JournalFile, JournalError> open(const std::filesystem::path& file, Frontier end,
                                                  const std::string& vfs = {});

    // Appends the payloads as records size(), size() + 1, ... with one checkpoint signed by all
    // `signers`, in one transaction, and returns when it is durable. After an error nothing of the
    // batch is visible, and the file takes no more: a failed write is never tried again, because
    // the contents of the disk are then unknown until it is read again.
    Result<Receipt, JournalError> append(std::span<const std::string> payloads,
                                         std::span<Signer* const> signers,
                                         const SnapshotRow* snapshot = nullptr);

    // For idle moments: moves the write-ahead log into the file if there is much of it. Never waits
    // for readers.
    Result<void, JournalError> tidy();
    // Leaves one file without a write-ahead log behind, for an archive. Refused while a reader has
    // it open, and then nothing has changed.
    Result<void, JournalError> finish();

    [[nodiscard]] std::uint64_t firstSeq() const { return first_; }
    [[nodiscard]] std::uint64_t size() const { return frontier_.size(); }
    [[nodiscard]] const Frontier& frontier() const { return frontier_; }

private:
    JournalFile(const std::filesystem::path& file, Frontier end, const std::string& vfs);
    void write(std::span<const std::string> payloads, const Frontier& next, std::string_view note,
               const std::vector<std::pair<std::uint64_t, Hash>>& nodes,
               const SnapshotRow* snapshot);
    void prepareStatements();
    void requireSameFile() const;
    void checkpointLog();
    void growLog();
    Result<void, JournalError> guarded(const std::function<void()>& work);

    std::filesystem::path path_;
    std::filesystem::path logPath_;
    FileIdentity identity_;
    FileIdentity logIdentity_;
    Database database_;
    std::uint64_t first_ = 0;
    Frontier frontier_;
    std::optional<Statement> begin_;
    std::optional<Statement> commit_;
    std::optional<Statement> insertRecord_;
    std::optional<Statement> insertCheckpoint_;
    std::optional<Statement> insertNode_;
    std::unique_ptr<int> logPages_;  // told by SQLite after each commit
    bool failed_ = false;
};

// One process writes a journal: held for as long as the object lives.
class JournalLock {
public:
    static Result<JournalLock, JournalError> take(const std::filesystem::path& directory);
    JournalLock(JournalLock&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}
    JournalLock& operator=(JournalLock&&) = delete;
    ~JournalLock();

private:
    explicit JournalLock(int descriptor) : descriptor_{descriptor} {}
    int descriptor_;
};

// Makes what a file seems to hold durable, whatever became of those who wrote it: a process that
// was killed never synced, and what a failed sync left out the next one does not write, so all of
// it is written once more.
Result<void, JournalError> writeAnew(const std::filesystem::path& file);

// Makes the names in a directory durable.
Result<void, JournalError> syncDirectory(const std::filesystem::path& directory);

}  // namespace jackpot::storage
