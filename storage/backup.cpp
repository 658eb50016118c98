#include "storage/backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <system_error>
#include <vector>

#include "storage/journal.h"

namespace jackpot::storage {
namespace {

namespace fs = std::filesystem;
using Kind = JournalError::Kind;

constexpr std::uint64_t kPageRecords = 1000;
constexpr int kAttempts = 10;

// Thrown inside this file and turned into the result at its edge.
struct Failed {
    JournalError error;
};

[[noreturn]] void fail(Kind kind, const std::string& message)
{
    throw Failed{{kind, message, std::nullopt}};
}

void must(Result<void, JournalError> done)
{
    if (!done) throw Failed{done.error()};
}

void syncFile(const fs::path& file)
{
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (!synced) fail(Kind::Io, file.string() + ": " + std::generic_category().message(error));
}

struct Source {
    fs::path file;
    JournalReader reader;
    std::uint64_t end = 0;  // by its last checkpoint
    std::vector<SnapshotRow> snapshots;
};

// What a file holds at one moment. All but the snapshots is only ever added to, and of those two
// are kept, so that the rest can be read later, page by page.
Source opened(const fs::path& file)
{
    Source source{file, orThrow(JournalReader::open(file)), 0, {}};
    if (const auto& fault = source.reader.schemaFault())
        fail(source.reader.isNewer() ? Kind::Newer : Kind::NotVerified,
             file.string() + ": " + fault->message);
    orThrow(source.reader.beginRead());
    source.end = orThrow(source.reader.lastSize());
    source.snapshots = orThrow(source.reader.snapshots());
    orThrow(source.reader.endRead());
    return source;
}

// While these are open the writer gives no file another name.
std::vector<Source> openedAll(const fs::path& directory)
{
    std::error_code error;
    for (int attempt = 0; attempt < kAttempts && fs::is_directory(directory, error); ++attempt) {
        const auto files = filesOf(directory);
        if (files.empty()) break;
        std::vector<Source> sources;
        for (const fs::path& file : files) sources.push_back(opened(file));
        if (filesOf(directory) == files) return sources;
    }
    fail(Kind::Refused, directory.string() + ": there is no journal here");
}

// A copy that is interrupted leaves a file that nobody opens, so nothing is synced before the end.
void copyFile(Source& source, const fs::path& target,
              const std::function<void(std::uint64_t copied)>& copied)
{
    JournalReader& reader = source.reader;
    const auto frontier = Frontier::parse(reader.firstFrontier());
    if (!frontier)
        fail(Kind::NotVerified,
             source.file.string() + ": the tree before its first record cannot be read");
    must(JournalFile::create(target, *frontier));
    Database database{target.string(), Database::Mode::ReadWrite};
    if (database.text("PRAGMA journal_mode=DELETE") != "delete")
        fail(Kind::Io, target.string() + ": it cannot be written");
    database.execute("PRAGMA synchronous=OFF");
    Statement record = database.prepare("INSERT INTO journal(seq, payload) VALUES (?, ?)");
    Statement checkpoint = database.prepare("INSERT INTO checkpoint(size, note) VALUES (?, ?)");
    Statement node = database.prepare("INSERT INTO node(idx, hash) VALUES (?, ?)");
    Statement snapshot =
        database.prepare("INSERT INTO snapshot(size, state, frontier) VALUES (?, ?, ?)");

    for (std::uint64_t from = reader.firstSeq(); from < source.end;) {
        const std::uint64_t to = std::min(from + kPageRecords, source.end);
        database.execute("BEGIN");
        orThrow(reader.forEachPayload(from, to, [&](std::uint64_t seq, std::string_view payload) {
            record.bind(1, static_cast<std::int64_t>(seq)).bindText(2, payload).run();
            return true;
        }));
        orThrow(reader.forEachCheckpoint(from, to, [&](std::uint64_t size, std::string_view note) {
            checkpoint.bind(1, static_cast<std::int64_t>(size)).bindText(2, note).run();
            return true;
        }));
        for (std::uint64_t i = from >> kNodeLevel; i < to >> kNodeLevel; ++i)
            if (const auto hash = orThrow(reader.node(i)))
                node.bind(1, static_cast<std::int64_t>(i)).bindBlob(2, hash->view()).run();
        database.execute("COMMIT");
        copied(to - from);
        from = to;
    }
    for (const SnapshotRow& row : source.snapshots)
        snapshot.bind(1, static_cast<std::int64_t>(row.size))
            .bindText(2, row.state)
            .bindText(3, row.frontier)
            .run();
}

// The accounts of the desk: small, and of one moment.
void copyPeople(const fs::path& from, const fs::path& to)
{
    std::error_code error;
    if (!fs::exists(from, error)) return;
    Database source{from.string(), Database::Mode::ReadOnly};
    sqlite3_busy_timeout(source.handle(), kBusyMs);
    Database target{to.string(), Database::Mode::Create};
    sqlite3_backup* const backup =
        sqlite3_backup_init(target.handle(), "main", source.handle(), "main");
    if (!backup) throw SqliteFailure{SQLITE_ERROR, sqlite3_errmsg(target.handle())};
    sqlite3_backup_step(backup, -1);
    if (const int code = sqlite3_backup_finish(backup); code != SQLITE_OK)
        throw SqliteFailure{code, sqlite3_errstr(code)};
    fs::permissions(to, fs::perms{0600});
    syncFile(to);
}

}  // namespace

Result<void, JournalError> copyJournal(const fs::path& from, const fs::path& to,
                                       const CopyProgress& progress)
{
    try {
        std::vector<Source> sources = openedAll(from);
        const std::uint64_t first = sources.front().reader.firstSeq();
        const std::uint64_t total = sources.back().end - first;
        std::uint64_t done = 0;
        for (Source& source : sources) {
            const bool isLast = &source == &sources.back();
            // What was cut off while a segment was being closed is complete under its other name.
            const fs::path file = to / (isLast ? fs::path{kJournalName} : source.file.filename());
            copyFile(source, file, [&](std::uint64_t copied) {
                done += copied;
                if (progress) progress(done, total);
            });
            fs::permissions(file, isLast ? fs::perms{0640} : fs::perms{0440});
            syncFile(file);
        }
        copyPeople(from / kPeopleName, to / kPeopleName);
        for (const std::string_view each : {kAcceptedRestoresName, kWitnessedName}) {
            if (!fs::exists(from / each)) continue;
            fs::copy_file(from / each, to / each);
            syncFile(to / each);
        }
        return syncDirectory(to);
    } catch (const Failed& failed) {
        return failed.error;
    } catch (const fs::filesystem_error& error) {
        return JournalError{Kind::Io, error.what(), std::nullopt};
    } catch (const SqliteFailure& failure) {
        const int primary = failure.code() & 0xff;
        const bool damaged = primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
        return JournalError{damaged ? Kind::NotVerified : Kind::Io,
                            from.string() + ": " + failure.what(), std::nullopt};
    }
}

Result<void, JournalError> keepWitnessed(const fs::path& directory, const std::string& note)
{
    const fs::path file = directory / kWitnessedName;
    std::ofstream out{file, std::ios::binary | std::ios::trunc};
    out << note;
    out.close();
    if (!out) return JournalError{Kind::Io, file.string() + ": it cannot be written", std::nullopt};
    try {
        syncFile(file);
    } catch (const Failed& failed) {
        return failed.error;
    }
    return {};
}

}  // namespace jackpot::storage
