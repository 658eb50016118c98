// SQLite with owners for its handles. Inside this folder a failure is thrown as SqliteFailure, and
// each public function of the folder turns it into an Error at its edge.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

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

// Borrows the connection. Columns read as text or blob live until the next step or reset.
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
