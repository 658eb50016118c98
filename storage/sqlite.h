// SQLite with owners for its handles. Database and Statement throw SqliteFailure; it must not leave
// this folder, so other folders use them inside runSqlite(), which returns the failure as a value.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace jackpot::storage {

class SqliteFailure : public std::runtime_error {
public:
    SqliteFailure(int code, const std::string& message) : std::runtime_error{message}, code_{code}
    {}
    // SQLite's extended result code.
    [[nodiscard]] int code() const { return code_; }

private:
    int code_;
};

// A failure of SQLite as a value.
struct SqliteError {
    int code = 0;  // SQLite's extended result code
    std::string message;

    [[nodiscard]] int primaryCode() const { return code & 0xff; }
    // The file is not a database, or a damaged one.
    [[nodiscard]] bool isDamage() const
    {
        return primaryCode() == SQLITE_CORRUPT || primaryCode() == SQLITE_NOTADB;
    }
};

template <class T>
using SqliteResult = Result<T, SqliteError>;

// Calls `work` and returns its value, or the failure of SQLite that ended it.
template <class Work>
auto runSqlite(Work&& work) -> SqliteResult<std::invoke_result_t<Work>>
{
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
            work();
            return {};
        } else {
            return work();
        }
    } catch (const SqliteFailure& failure) {
        return SqliteError{failure.code(), failure.what()};
    }
}

// The opposite, inside `work`: the value, or the error thrown to end it.
template <class T>
T orThrow(SqliteResult<T> result)
{
    if (!result) throw SqliteFailure{result.error().code, result.error().message};
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// Ends `work` because the content of the database is not what this program writes.
[[noreturn]] void throwDamaged(const std::string& message);

// How long a connection waits for another one's lock.
inline constexpr int kBusyMs = 2000;

// The file's name as SQLite's URI. An immutable file is read without locks and without a log.
std::string sqliteUri(const std::filesystem::path& file, bool immutable = false);

class Statement;

// One connection, one thread at a time.
class Database {
public:
    enum class Mode : std::uint8_t { ReadOnly, ReadWrite, Create };
    // `vfs` is empty for the system's own.
    Database(const std::string& file, Mode mode, const std::string& vfs = {});

    void execute(const std::string& sql);
    [[nodiscard]] Statement prepare(std::string_view sql);
    // The first column of the first row, if there is a row.
    [[nodiscard]] std::optional<std::int64_t> number(std::string_view sql);
    [[nodiscard]] std::optional<std::string> text(std::string_view sql);
    [[nodiscard]] sqlite3* handle() const { return database_.get(); }

private:
    struct Close {
        void operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }
    };
    std::unique_ptr<sqlite3, Close> database_;
};

// Borrows the connection. Bound texts and blobs are copied. Columns read as text or blob live until
// the next step or reset.
class Statement {
public:
    Statement(sqlite3* database, std::string_view sql);

    Statement& bind(int index, std::int64_t value);
    Statement& bindText(int index, std::string_view value);
    Statement& bindNull(int index);
    Statement& bindBlob(int index, std::string_view value);
    // Whether there is a row.
    bool step();
    // For a statement without rows: runs it and makes it ready for the next.
    void run();
    void reset();

    [[nodiscard]] std::int64_t number(int column) const
    {
        return sqlite3_column_int64(statement_.get(), column);
    }
    [[nodiscard]] int type(int column) const
    {
        return sqlite3_column_type(statement_.get(), column);
    }
    [[nodiscard]] std::string_view bytes(int column) const;
    // The same, but a column of another type throws: STRICT keeps writers to it, not forgers.
    [[nodiscard]] std::string_view text(int column) const;
    [[nodiscard]] std::string_view blob(int column) const;

private:
    void check(int code) const;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
    };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace jackpot::storage
