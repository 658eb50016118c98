// What jackpot-audit writes: to standard output, or to a file that appears only when it is whole.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/printable.h"

namespace jackpot::audit {

// "1,234,567"
std::string grouped(std::uint64_t number);

// Written in large pieces. What cannot be written is a Stop.
class Output {
public:
    Output();  // standard output
    // A new file; refused where there is one of that name. Until commit() it has no name, so that
    // nothing half-written is left behind whatever happens. A device or a pipe is written as it is.
    explicit Output(std::filesystem::path file);
    Output(Output&& other) noexcept;
    Output& operator=(Output&&) = delete;
    ~Output();

    void write(std::string_view bytes)
    {
        buffer_ += bytes;
        if (buffer_.size() >= kFlushBytes) flush();
    }
    // A line for people.
    void line(std::string_view text) { write(tools::printable(text) + "\n"); }
    // Lines for machines, but not raw where a person would see them on a terminal.
    void lines(std::string_view text);
    void flush();
    // All is written: makes it durable and gives the file its name.
    void commit();
    // Takes the name away again, for another file that failed.
    void undo();

private:
    static constexpr std::size_t kFlushBytes = 1U << 18U;

    int descriptor_;
    std::filesystem::path name_;  // empty for standard output
    std::string temporary_;       // where the file system knows no files without a name
    bool direct_ = true;          // there is no name to give
    std::string buffer_;
};

bool standardOutputIsTerminal();

// "12 % 1,200,000 of 10,000,000 records, 250,000 a second, 35 s left" on standard error, if that
// is a terminal. One thread at a time.
class Progress {
public:
    explicit Progress(std::string what);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { clear(); }

    void show(std::uint64_t done, std::uint64_t total);
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    std::string what_;
    bool shown_ = false;
    bool terminal_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_;
};

// A field of RFC 4180, in quotes where it needs them.
void appendCsvField(std::string& out, std::string_view field);
// A row of RFC 4180, with its CRLF.
std::string csvRow(const std::vector<std::string>& fields);
// The text for a CSV field: where a spreadsheet would take it for a formula, an apostrophe comes
// first.
std::string csvText(std::string_view text);

// Columns for people, each as wide as its widest cell.
class TextTable {
public:
    // The columns from the nth on are figures and stand to the right.
    explicit TextTable(std::size_t figuresFrom) : figuresFrom_{figuresFrom} {}
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    void print(Output& out, std::string_view indent) const;

private:
    std::size_t figuresFrom_;
    std::vector<std::vector<std::string>> rows_;
};

// From now on SIGINT and SIGTERM are only remembered.
void rememberInterrupts();
bool interrupted();
// A Stop with status 130 where there was one.
void stopIfInterrupted();

}  // namespace jackpot::audit
