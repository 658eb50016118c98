#include "audit/output.h"

#include <algorithm>

#include "audit/audit_error.h"

namespace jackpot::audit {
namespace {

// How many columns it takes; what is invisible was made visible before.
std::size_t widthOf(std::string_view text)
{
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

void TextOutput::write(std::string_view bytes)
{
    if (bytes.size() > most_ - text_.size())
        throw AuditError{Unreadable,
                         "it is longer than can be shown here: ask for a shorter period"};
    text_ += bytes;
}

std::string grouped(std::uint64_t number)
{
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
    return digits;
}

void appendCsvField(std::string& out, std::string_view field)
{
    const bool plain = std::ranges::none_of(
        field, [](char c) { return c == ',' || c == '"' || c == '\r' || c == '\n'; });
    if (plain) {
        out += field;
        return;
    }
    out += '"';
    while (true) {
        const auto quote = field.find('"');
        out += field.substr(0, quote);
        if (quote == std::string_view::npos) break;
        out += "\"\"";
        field.remove_prefix(quote + 1);
    }
    out += '"';
}

std::string csvRow(const std::vector<std::string>& fields)
{
    std::string row;
    for (const std::string& field : fields) {
        if (&field != &fields.front()) row += ',';
        appendCsvField(row, field);
    }
    return row + "\r\n";
}

std::string csvText(std::string_view text)
{
    const bool formula =
        !text.empty() && std::string_view{"=+-@\t\r"}.find(text[0]) != std::string_view::npos;
    return (formula ? "'" : "") + std::string{text};
}

void TextTable::print(Output& out, std::string_view indent) const
{
    std::vector<std::size_t> widths;
    std::vector<std::vector<std::string>> shown = rows_;
    for (auto& row : shown) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            row[i] = printable(row[i]);
            widths[i] = std::max(widths[i], widthOf(row[i]));
        }
    }
    for (const auto& row : shown) {
        std::string line{indent};
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string space(widths[i] - widthOf(row[i]), ' ');
            if (i > 0) line += "  ";
            line += i < figuresFrom_ ? row[i] + space : space + row[i];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out.write(line + "\n");
    }
}

}  // namespace jackpot::audit
