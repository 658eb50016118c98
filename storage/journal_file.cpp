#include "storage/journal_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "storage/journal_schema.h"

namespace jackpot::storage {
namespace {

using Kind = JournalError::Kind;

// A commit that finds more than this in the write-ahead log moves it into the file first; idle
// moments move it long before.
constexpr int kLogPagesAtMost = 1500;
constexpr int kLogPagesWhenIdle = 256;
// What kLogPagesAtMost pages with their frame headers take.
constexpr sqlite3_int64 kLogBytes = sqlite3_int64{kLogPagesAtMost} * (4096 + 24) + 32;

std::string systemText(int error) { return std::strerror(error); }

JournalError ioError(const std::filesystem::path& path, const std::string& what)
{
    return {Kind::Io, path.string() + ": " + what, std::nullopt};
}

JournalError fromSqlite(const std::filesystem::path& path, const SqliteFailure& failure)
{
    const int primary = failure.code() & 0xff;
    if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB)
        return {Kind::NotVerified, path.string() + ": the file is damaged: " + failure.what(),
                std::nullopt};
    if (primary == SQLITE_FULL) return ioError(path, "the disk is full: make room and start again");
    if (primary == SQLITE_READONLY)
        return ioError(path, std::string{"the file cannot be written: check its owner and mode: "} +
                                 failure.what());
    return ioError(path, failure.what());
}

int rememberLogPages(void* pages, sqlite3*, const char*, int count)
{
    *static_cast<int*>(pages) = count;
    return SQLITE_OK;
}

// EXTRA comes before WAL, so that the first commit is as durable as the last.
void openForWriting(Database& database)
{
    sqlite3_busy_timeout(database.handle(), kBusyMs);
    database.execute("PRAGMA synchronous=EXTRA;");
    if (database.text("PRAGMA journal_mode=WAL") != "wal")
        throw SqliteFailure{SQLITE_CANTOPEN, "write-ahead logging is not possible here"};
    database.execute("PRAGMA wal_autocheckpoint=0;");
}

}  // namespace

std::string inWords(const JournalError& error)
{
    return error.seq ? "record " + std::to_string(*error.seq) + ": " + error.message
                     : error.message;
}

int exitStatusOf(JournalError::Kind kind)
{
    switch (kind) {
        case Kind::Io: return 3;
        case Kind::Locked: return 4;
        case Kind::NotVerified: return 5;
        case Kind::BadKey: return 6;
        case Kind::Newer: return 7;
        case Kind::Refused: break;
    }
    return 2;
}

std::optional<FileIdentity> identityOf(const std::filesystem::path& path)
{
    // Nothing but the number is asked for: a kernel that is asked for a file's time makes the next
    // write of it a change of the inode too, and a commit that much slower.
    struct statx status {};
    if (::statx(AT_FDCWD, path.c_str(), 0, STATX_INO, &status) != 0) return std::nullopt;
    return FileIdentity{::makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino};
}

// --- writing
// ---------------------------------------------------------------------------------------------

Result<void, JournalError> JournalFile::create(const std::filesystem::path& file,
                                               const Frontier& start, const std::string& vfs)
{
    std::error_code error;
    if (std::filesystem::exists(file, error))
        return JournalError{Kind::Refused, file.string() + ": is there already", std::nullopt};
    try {
        Database database{sqliteUri(file), Database::Mode::Create, vfs};
        openForWriting(database);
        database.execute(
            "BEGIN IMMEDIATE; PRAGMA application_id=" + std::to_string(kApplicationId) +
            "; PRAGMA user_version=" + std::to_string(kFormatVersion) + ";");
        for (const SchemaObject& object : kSchema) database.execute(std::string{object.sql});
        database.prepare("INSERT INTO segment(first, frontier) VALUES (?, ?)")
            .bind(1, static_cast<std::int64_t>(start.size()))
            .bindText(2, start.format())
            .run();
        database.execute("COMMIT");
    } catch (const SqliteFailure& failure) {
        return fromSqlite(file, failure);
    }
    return syncDirectory(file.parent_path());
}

Result<void, JournalError> JournalFile::rollBack(const std::filesystem::path& file,
                                                 const std::string& vfs)
{
    std::error_code ignored;
    if (!std::filesystem::exists(file.string() + "-journal", ignored)) return {};
    try {
        Database database{sqliteUri(file), Database::Mode::ReadWrite, vfs};
        // The write-ahead log, if there is one, is not touched before it is verified.
        sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
        database.execute("PRAGMA synchronous=EXTRA;");
        (void)database.number("PRAGMA schema_version");
    } catch (const SqliteFailure& failure) {
        return fromSqlite(file, failure);
    }
    return {};
}

Result<JournalFile, JournalError> JournalFile::open(const std::filesystem::path& file, Frontier end,
                                                    const std::string& vfs)
{
    try {
        return JournalFile{file, std::move(end), vfs};
    } catch (const SqliteFailure& failure) {
        return fromSqlite(file, failure);
    }
}

JournalFile::JournalFile(const std::filesystem::path& file, Frontier end, const std::string& vfs)
    : path_{file},
      logPath_{file.string() + "-wal"},
      database_{sqliteUri(file), Database::Mode::ReadWrite, vfs},
      frontier_{std::move(end)},
      logPages_{std::make_unique<int>(0)}
{
    openForWriting(database_);
    sqlite3_wal_hook(database_.handle(), rememberLogPages, logPages_.get());
    first_ = static_cast<std::uint64_t>(database_.number("SELECT first FROM segment").value_or(0));
    prepareStatements();
    // A read has opened the log, which stays the same file for as long as the connection lives.
    const auto identity = identityOf(path_);
    const auto logIdentity = identityOf(logPath_);
    if (!identity || !logIdentity) throw SqliteFailure{SQLITE_CANTOPEN, systemText(errno)};
    identity_ = *identity;
    logIdentity_ = *logIdentity;
}

void JournalFile::prepareStatements()
{
    begin_ = database_.prepare("BEGIN IMMEDIATE");
    commit_ = database_.prepare("COMMIT");
    insertRecord_ = database_.prepare("INSERT INTO journal(seq, payload) VALUES (?, ?)");
    insertCheckpoint_ = database_.prepare("INSERT INTO checkpoint(size, note) VALUES (?, ?)");
    insertNode_ = database_.prepare("INSERT INTO node(idx, hash) VALUES (?, ?)");
}

Result<Receipt, JournalError> JournalFile::append(std::span<const std::string> payloads,
                                                  std::span<Signer* const> signers,
                                                  const SnapshotRow* snapshot)
{
    Frontier next = frontier_;
    std::vector<std::pair<std::uint64_t, Hash>> nodes;
    const NodeSink keep = [&nodes](unsigned level, std::uint64_t index, const Hash& hash) {
        if (level == kNodeLevel) nodes.emplace_back(index, hash);
    };
    for (const std::string& payload : payloads) next.append(leafHash(payload), keep);

    Receipt receipt{next.size(), next.root(), {}};
    const auto text = Checkpoint{signers.front()->name(), receipt.size, receipt.root, {}}.format();
    if (!text) return JournalError{Kind::Refused, text.error().message, std::nullopt};
    Note note{*text, {}};
    for (Signer* signer : signers) note.sign(*signer);
    auto bytes = note.format();
    if (!bytes) return JournalError{Kind::Refused, bytes.error().message, std::nullopt};
    receipt.note = std::move(*bytes);

    const auto written = guarded([&] { write(payloads, next, receipt.note, nodes, snapshot); });
    if (!written) return written.error();
    frontier_ = std::move(next);
    return receipt;
}

void JournalFile::write(std::span<const std::string> payloads, const Frontier& next,
                        std::string_view note,
                        const std::vector<std::pair<std::uint64_t, Hash>>& nodes,
                        const SnapshotRow* snapshot)
{
    requireSameFile();
    if (*logPages_ > kLogPagesAtMost) checkpointLog();
    begin_->run();
    std::uint64_t seq = frontier_.size();
    for (const std::string& payload : payloads)
        insertRecord_->bind(1, static_cast<std::int64_t>(seq++)).bindText(2, payload).run();
    for (const auto& [index, hash] : nodes)
        insertNode_->bind(1, static_cast<std::int64_t>(index)).bindBlob(2, hash.view()).run();
    if (snapshot) {
        // The one before stays, should this one be lost to a bad sector, and the one that the file
        // begins with.
        database_.execute(
            "DELETE FROM snapshot WHERE size < (SELECT max(size) FROM snapshot)"
            " AND size NOT IN (SELECT first FROM segment)");
        database_.prepare("INSERT INTO snapshot(size, state, frontier) VALUES (?, ?, ?)")
            .bind(1, static_cast<std::int64_t>(snapshot->size))
            .bindText(2, snapshot->state)
            .bindText(3, snapshot->frontier)
            .run();
    }
    insertCheckpoint_->bind(1, static_cast<std::int64_t>(next.size())).bindText(2, note).run();
    commit_->run();
}

Result<void, JournalError> JournalFile::tidy()
{
    return guarded([this] {
        if (*logPages_ > kLogPagesWhenIdle) checkpointLog();
        growLog();
    });
}

// A sync of blocks that are there already is faster than one that makes the file longer. What
// cannot be written is left: it is a preparation, no more.
void JournalFile::growLog()
{
    sqlite3_file* log = nullptr;
    sqlite3_file_control(database_.handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    sqlite3_int64 size = 0;
    if (!log || !log->pMethods || log->pMethods->xFileSize(log, &size) != SQLITE_OK ||
        size >= kLogBytes)
        return;
    // SQLite writes at most 128 KiB less one at a time.
    const std::vector<char> zeros(1U << 16U);
    while (size < kLogBytes) {
        if (log->pMethods->xWrite(log, zeros.data(), static_cast<int>(zeros.size()), size) !=
            SQLITE_OK)
            return;
        size += static_cast<sqlite3_int64>(zeros.size());
    }
    log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
}

Result<void, JournalError> JournalFile::finish()
{
    begin_.reset();
    commit_.reset();
    insertRecord_.reset();
    insertCheckpoint_.reset();
    insertNode_.reset();
    bool busy = false;
    auto finished = guarded([this, &busy] {
        try {
            busy = database_.text("PRAGMA journal_mode=DELETE") != "delete";
        } catch (const SqliteFailure& failure) {
            if ((failure.code() & 0xff) != SQLITE_BUSY) throw;
            busy = true;
        }
        if (busy) prepareStatements();
    });
    if (finished && busy)
        return JournalError{Kind::Refused,
                            path_.string() + ": a reader has it open: try again when it is done",
                            std::nullopt};
    return finished;
}

void JournalFile::checkpointLog()
{
    int left = 0;
    int moved = 0;
    const int code = sqlite3_wal_checkpoint_v2(database_.handle(), nullptr,
                                               SQLITE_CHECKPOINT_PASSIVE, &left, &moved);
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY)
        throw SqliteFailure{code, sqlite3_errmsg(database_.handle())};
    if (left == moved) *logPages_ = 0;
}

// If another file was put under this name, nobody would find the records that are written to it.
void JournalFile::requireSameFile() const
{
    if (identityOf(path_) != identity_ || identityOf(logPath_) != logIdentity_)
        throw SqliteFailure{SQLITE_IOERR,
                            "the file or its log was replaced or removed while in use"};
}

Result<void, JournalError> JournalFile::guarded(const std::function<void()>& work)
{
    if (failed_) return ioError(path_, "an earlier write failed: the journal must be opened again");
    try {
        work();
        return {};
    } catch (const SqliteFailure& failure) {
        failed_ = true;
        // Closing leaves the files as they are: the disk is not trusted, or the names are others'.
        sqlite3_db_config(database_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
        sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
        return fromSqlite(path_, failure);
    }
}

// --- the directory
// ---------------------------------------------------------------------------------------

Result<JournalLock, JournalError> JournalLock::take(const std::filesystem::path& directory)
{
    const std::filesystem::path path = directory / kLockName;
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (descriptor < 0) return ioError(path, systemText(errno));
    JournalLock lock{descriptor};
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return ioError(path, systemText(errno));
        return JournalError{
            Kind::Locked,
            path.string() + ": another process writes this journal: only one may at a time",
            std::nullopt};
    }
    return lock;
}

JournalLock::~JournalLock()
{
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void, JournalError> writeAnew(const std::filesystem::path& file)
{
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) {
        if (errno == ENOENT) return {};
        return ioError(file, systemText(errno));
    }
    std::vector<char> piece(1U << 18U);
    off_t at = 0;
    ssize_t got = 0;
    bool written = true;
    while (written && (got = ::pread(descriptor, piece.data(), piece.size(), at)) > 0) {
        written = ::pwrite(descriptor, piece.data(), static_cast<std::size_t>(got), at) == got;
        at += got;
    }
    written = written && got == 0 && ::fsync(descriptor) == 0;
    const int error = errno;
    ::close(descriptor);
    if (!written) return ioError(file, systemText(error));
    return {};
}

Result<void, JournalError> syncDirectory(const std::filesystem::path& directory)
{
    const std::filesystem::path path = directory.empty() ? "." : directory;
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return ioError(path, systemText(errno));
    const bool synced = ::fsync(descriptor) == 0;
    const int error = errno;
    ::close(descriptor);
    if (!synced) return ioError(path, systemText(error));
    return {};
}

}  // namespace jackpot::storage
