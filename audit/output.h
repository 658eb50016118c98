// What reports and records in words are written to, and the forms they take.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/printable.h"

namespace jackpot::audit {

class Output {
public:
    Output() = default;
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    virtual ~Output() = default;

    virtual void write(std::string_view bytes) = 0;
    // A line for people.
    void line(std::string_view text) { write(printable(text) + "\n"); }
    // Lines for machines, but not raw where a person would see them on a terminal.
    virtual void lines(std::string_view text) { write(text); }

protected:
    Output(Output&&) = default;
    Output& operator=(Output&&) = default;
};

// Into memory. More than `most` bytes are an AuditError.
class TextOutput final : public Output {
public:
    explicit TextOutput(std::size_t most) : most_{most} {}
    void write(std::string_view bytes) override;
    std::string take() { return std::exchange(text_, {}); }

private:
    std::size_t most_;
    std::string text_;
};

// "1,234,567"
std::string grouped(std::uint64_t number);

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

}  // namespace jackpot::audit
