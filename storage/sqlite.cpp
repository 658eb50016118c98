#include "storage/sqlite.h"

namespace jackpot::storage {
namespace {

[[noreturn]] void fail(sqlite3* database)
{
    const int code = sqlite3_extended_errcode(database);
    std::string message = sqlite3_errmsg(database);
    if (const int system = sqlite3_system_errno(database); system != 0)
        message += " (system error " + std::to_string(system) + ")";
    throw SqliteFailure{code, message};
}

int flagsOf(Database::Mode mode)
{
    const int common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI;
    switch (mode) {
        case Database::Mode::ReadOnly: return common | SQLITE_OPEN_READONLY;
        case Database::Mode::ReadWrite: return common | SQLITE_OPEN_READWRITE;
        case Database::Mode::Create: break;
    }
    return common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
}

}  // namespace

void throwDamaged(const std::string& message) { throw SqliteFailure{SQLITE_CORRUPT, message}; }

std::string sqliteUri(const std::filesystem::path& file, bool immutable)
{
    std::string uri = "file:";
    for (const char c : file.string()) {
        if (c == '?' || c == '#' || c == '%') {
            constexpr std::string_view kHex = "0123456789abcdef";
            uri += '%';
            uri += kHex[static_cast<unsigned char>(c) >> 4U];
            uri += kHex[static_cast<unsigned char>(c) & 15U];
        } else {
            uri += c;
        }
    }
    return immutable ? uri + "?immutable=1" : uri;
}

Database::Database(const std::string& file, Mode mode, const std::string& vfs)
{
    sqlite3* opened = nullptr;
    const int code =
        sqlite3_open_v2(file.c_str(), &opened, flagsOf(mode), vfs.empty() ? nullptr : vfs.c_str());
    database_.reset(opened);
    if (code != SQLITE_OK) {
        if (!opened) throw SqliteFailure{code, "out of memory"};
        fail(opened);
    }
    // What a schema says must not run code of its choosing, and a file must not be trusted to be
    // sound.
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
}

void Database::execute(const std::string& sql)
{
    if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        fail(database_.get());
}

Statement Database::prepare(std::string_view sql) { return {database_.get(), sql}; }

std::optional<std::int64_t> Database::number(std::string_view sql)
{
    Statement statement = prepare(sql);
    if (!statement.step() || statement.type(0) != SQLITE_INTEGER) return std::nullopt;
    return statement.number(0);
}

std::optional<std::string> Database::text(std::string_view sql)
{
    Statement statement = prepare(sql);
    if (!statement.step()) return std::nullopt;
    std::string found{statement.bytes(0)};
    // What a pragma changes is committed after its row, and only the next step says whether.
    while (statement.step()) {
    }
    return found;
}

Statement::Statement(sqlite3* database, std::string_view sql)
{
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()),
                           SQLITE_PREPARE_PERSISTENT, &prepared, nullptr) != SQLITE_OK)
        fail(database);
    statement_.reset(prepared);
}

Statement& Statement::bind(int index, std::int64_t value)
{
    check(sqlite3_bind_int64(statement_.get(), index, value));
    return *this;
}

Statement& Statement::bindText(int index, std::string_view value)
{
    check(sqlite3_bind_text64(statement_.get(), index, value.data(), value.size(), SQLITE_TRANSIENT,
                              SQLITE_UTF8));
    return *this;
}

Statement& Statement::bindBlob(int index, std::string_view value)
{
    check(
        sqlite3_bind_blob64(statement_.get(), index, value.data(), value.size(), SQLITE_TRANSIENT));
    return *this;
}

Statement& Statement::bindNull(int index)
{
    check(sqlite3_bind_null(statement_.get(), index));
    return *this;
}

bool Statement::step()
{
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    fail(sqlite3_db_handle(statement_.get()));
}

void Statement::run()
{
    while (step()) {
    }
    reset();
}

void Statement::reset() { check(sqlite3_reset(statement_.get())); }

std::string_view Statement::bytes(int column) const
{
    const void* data = sqlite3_column_blob(statement_.get(), column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
    return {static_cast<const char*>(data), data ? size : 0};
}

std::string_view Statement::text(int column) const
{
    if (type(column) != SQLITE_TEXT) throwDamaged("a column that holds text holds something else");
    return bytes(column);
}

std::string_view Statement::blob(int column) const
{
    if (type(column) != SQLITE_BLOB) throwDamaged("a column that holds bytes holds something else");
    return bytes(column);
}

void Statement::check(int code) const
{
    if (code != SQLITE_OK) fail(sqlite3_db_handle(statement_.get()));
}

}  // namespace jackpot::storage
