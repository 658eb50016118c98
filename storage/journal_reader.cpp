#include "storage/journal_reader.h"

#include <unistd.h>

#include "storage/journal_schema.h"
#include "storage/record.h"

namespace jackpot::storage {
namespace {

// A file without a write-ahead log in a directory where nothing can be created (an archive, a
// read-only medium) is opened as immutable.
Database openToRead(const std::filesystem::path& file, const std::string& vfs)
{
    std::error_code ignored;
    const bool hasLog = std::filesystem::exists(file.string() + "-wal", ignored);
    const std::filesystem::path directory = file.has_parent_path() ? file.parent_path() : ".";
    const bool immutable = !hasLog && ::access(directory.c_str(), W_OK) != 0;
    Database database{sqliteUri(file, immutable), Database::Mode::ReadOnly, vfs};
    sqlite3_busy_timeout(database.handle(), kBusyMs);
    database.execute("PRAGMA query_only=1; PRAGMA wal_autocheckpoint=0;");
    return database;
}

// For a statement with two bounds whose rows are a number and a text.
void visitRows(Statement& rows, std::uint64_t from, std::uint64_t to,
               const JournalReader::VisitPayload& visit)
{
    rows.reset();
    rows.bind(1, static_cast<std::int64_t>(from)).bind(2, static_cast<std::int64_t>(to));
    while (rows.step())
        if (!visit(static_cast<std::uint64_t>(rows.number(0)), rows.text(1))) break;
    rows.reset();
}

}  // namespace

SqliteResult<JournalReader> JournalReader::open(const std::filesystem::path& file,
                                                const std::string& vfs)
{
    return runSqlite([&] { return JournalReader{openToRead(file, vfs)}; });
}

JournalReader::JournalReader(Database database)
    : database_{std::move(database)}, schemaFault_{findSchemaFault()}
{
    // A view in the place of a table could return anything, or never end.
    if (schemaFault_) return;
    Statement segment = database_.prepare("SELECT first, frontier FROM segment");
    if (!segment.step()) throwDamaged("it does not say where it begins");
    first_ = static_cast<std::uint64_t>(segment.number(0));
    firstFrontier_ = segment.text(1);
    if (segment.step()) throwDamaged("it says twice where it begins");
}

std::optional<Error> JournalReader::findSchemaFault()
{
    if (database_.number("PRAGMA application_id") != kApplicationId)
        return Error{"it is not a journal of jackpotd"};
    if (const auto version = database_.number("PRAGMA user_version"); version != kFormatVersion) {
        isNewer_ = version > kFormatVersion;
        return Error{
            "its format is version " + std::to_string(version.value_or(0)) +
            ", this program knows version " + std::to_string(kFormatVersion) +
            (isNewer_ ? ": a newer version of jackpotd wrote it, and only that one may go on"
                      : ": an older version of jackpotd wrote it, and this one cannot read it")};
    }
    Statement rows = database_.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY rowid");
    for (const SchemaObject& expected : kSchema) {
        if (!rows.step()) return Error{"its schema lacks " + std::string{expected.name}};
        if (rows.text(0) != expected.type || rows.text(1) != expected.name ||
            rows.text(2) != expected.sql)
            return Error{"its schema has " + std::string{rows.bytes(0)} + " \"" +
                         std::string{rows.bytes(1)} + "\" where " + std::string{expected.name} +
                         " is expected"};
    }
    if (rows.step())
        return Error{"its schema has " + std::string{rows.bytes(0)} + " \"" +
                     std::string{rows.bytes(1)} + "\" too many"};
    return std::nullopt;
}

SqliteResult<bool> JournalReader::hasJournalTable()
{
    return runSqlite([&] {
        return database_
            .number("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'journal'")
            .has_value();
    });
}

SqliteResult<std::optional<Error>> JournalReader::findExtentFault()
{
    return runSqlite([&]() -> std::optional<Error> {
        const auto first = static_cast<std::int64_t>(first_);
        if (database_.number("SELECT min(seq) FROM journal") != first)
            return Error{"its first record is not record " + std::to_string(first_)};
        if (database_.number("SELECT min(size) FROM checkpoint").value_or(0) <= first)
            return Error{"it has a checkpoint of before its first record"};
        return std::nullopt;
    });
}

SqliteResult<std::uint64_t> JournalReader::endSeq()
{
    return runSqlite([&] {
        const auto last = database_.number("SELECT max(seq) FROM journal");
        return last ? static_cast<std::uint64_t>(*last) + 1 : first_;
    });
}

SqliteResult<std::optional<std::string>> JournalReader::payload(std::uint64_t seq)
{
    return runSqlite([&]() -> std::optional<std::string> {
        if (!payload_) payload_ = database_.prepare("SELECT payload FROM journal WHERE seq = ?");
        payload_->reset();
        payload_->bind(1, static_cast<std::int64_t>(seq));
        if (!payload_->step()) return std::nullopt;
        std::string found{payload_->text(0)};
        payload_->reset();
        return found;
    });
}

void JournalReader::visitPayloads(std::uint64_t from, std::uint64_t to, const VisitPayload& visit)
{
    if (!payloads_)
        payloads_ = database_.prepare(
            "SELECT seq, payload FROM journal WHERE seq >= ? AND seq < ? ORDER BY seq");
    visitRows(*payloads_, from, to, visit);
}

SqliteResult<void> JournalReader::forEachPayload(std::uint64_t from, std::uint64_t to,
                                                 const VisitPayload& visit)
{
    return runSqlite([&] { visitPayloads(from, to, visit); });
}

// A search by number finds all rows of a page if it finds the page's first and last row. SQLite's
// count of pages shows where a page begins, so two rows of each page are searched for, not all.
SqliteResult<void> JournalReader::forEachPayloadVerified(std::uint64_t from, std::uint64_t to,
                                                         const VisitPayload& visit)
{
    return runSqlite([&] {
        int pages = -1;
        std::uint64_t last = from;
        const auto verifyAndVisit = [&](std::uint64_t seq, std::string_view payload) {
            if (pagesRead() != pages) {
                requireFound(last);
                requireFound(seq);
                pages = pagesRead();
            }
            last = seq;
            return visit(seq, payload);
        };
        visitPayloads(from, to, verifyAndVisit);
        if (from < to) requireFound(last);
    });
}

int JournalReader::pagesRead() const
{
    int sum = 0;
    for (const int which : {SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS}) {
        int count = 0;
        int highest = 0;
        sqlite3_db_status(database_.handle(), which, &count, &highest, 0);
        sum += count;
    }
    return sum;
}

void JournalReader::requireFound(std::uint64_t seq)
{
    if (!isThere_) isThere_ = database_.prepare("SELECT 1 FROM journal WHERE seq = ?");
    isThere_->bind(1, static_cast<std::int64_t>(seq));
    const bool found = isThere_->step();
    isThere_->reset();
    if (!found) throwDamaged("record " + std::to_string(seq) + " is not found by its number");
}

SqliteResult<std::optional<Error>> JournalReader::findIndexFault()
{
    return runSqlite([&]() -> std::optional<Error> {
        for (const char* const table :
             {"sqlite_schema", "checkpoint", "node", "snapshot", "segment"}) {
            const auto found = database_.text("PRAGMA quick_check(" + std::string{table} + ")");
            if (found != "ok")
                return Error{"the file is damaged: " + found.value_or("it cannot be checked")};
        }
        return std::nullopt;
    });
}

SqliteResult<void> JournalReader::forEachCheckpoint(
    std::uint64_t from, std::uint64_t to,
    const std::function<bool(std::uint64_t, std::string_view)>& visit)
{
    return runSqlite([&] {
        if (!checkpoints_)
            checkpoints_ = database_.prepare(
                "SELECT size, note FROM checkpoint WHERE size > ? AND size <= ? ORDER BY size");
        visitRows(*checkpoints_, from, to, visit);
    });
}

SqliteResult<std::optional<std::string>> JournalReader::lastNote()
{
    return runSqlite(
        [&] { return database_.text("SELECT note FROM checkpoint ORDER BY size DESC LIMIT 1"); });
}

SqliteResult<std::uint64_t> JournalReader::lastSize()
{
    return runSqlite([&] {
        return static_cast<std::uint64_t>(
            database_.number("SELECT max(size) FROM checkpoint").value_or(0));
    });
}

SqliteResult<std::optional<Hash>> JournalReader::node(std::uint64_t index)
{
    return runSqlite([&]() -> std::optional<Hash> {
        if (!node_) node_ = database_.prepare("SELECT hash FROM node WHERE idx = ?");
        node_->reset();
        node_->bind(1, static_cast<std::int64_t>(index));
        if (!node_->step()) return std::nullopt;
        const auto hash = Hash::fromBytes(node_->blob(0));
        node_->reset();
        if (!hash) return std::nullopt;
        return *hash;
    });
}

SqliteResult<void> JournalReader::forEachNode(
    const std::function<void(std::uint64_t, std::string_view)>& visit)
{
    return runSqlite([&] {
        Statement rows = database_.prepare("SELECT idx, hash FROM node ORDER BY idx");
        while (rows.step()) visit(static_cast<std::uint64_t>(rows.number(0)), rows.blob(1));
    });
}

SqliteResult<std::vector<SnapshotRow>> JournalReader::snapshots()
{
    return runSqlite([&] {
        std::vector<SnapshotRow> all;
        Statement rows =
            database_.prepare("SELECT size, state, frontier FROM snapshot ORDER BY size");
        while (rows.step())
            all.push_back({static_cast<std::uint64_t>(rows.number(0)), std::string{rows.text(1)},
                           std::string{rows.text(2)}});
        return all;
    });
}

SqliteResult<void> JournalReader::beginRead()
{
    return runSqlite([&] { database_.execute("BEGIN"); });
}

SqliteResult<void> JournalReader::endRead()
{
    return runSqlite([&] { database_.execute("COMMIT"); });
}

void JournalReader::abandonRead() noexcept
{
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace jackpot::storage
