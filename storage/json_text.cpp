#include "storage/json_text.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "base/utf8.h"

namespace jackpot::storage {
namespace {

constexpr bool isPlain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

void appendEscaped(std::string& out, char c)
{
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
    } else {
        out += "\\u00";
        out += kHex[code >> 4U];
        out += kHex[code & 15U];
    }
}

}  // namespace

void JsonText::put(Piece& piece, std::string_view key) const
{
    if (key.size() > kShort - 4) throw std::length_error{"a key that is too long"};
    comma(piece);
    *piece.end++ = '"';
    piece.end = std::copy(key.begin(), key.end(), piece.end);
    *piece.end++ = '"';
    *piece.end++ = ':';
}

void JsonText::put(Piece& piece, std::int64_t value)
{
    piece.end = std::to_chars(piece.end, piece.bytes.data() + piece.bytes.size(), value).ptr;
}

// Like rules::toExact, without a string of its own: most of a record is amounts.
void JsonText::put(Piece& piece, rules::Money amount)
{
    std::array<char, 32> digits;
    char* const end = digits.data() + digits.size();
    char* at = end;
    const auto units = static_cast<std::uint64_t>(amount.units());
    std::uint64_t rest = amount.isNegative() ? 0 - units : units;
    *--at = '"';
    for (int i = 0; i < 8; ++i, rest /= 10) *--at = static_cast<char>('0' + rest % 10);
    *--at = '.';
    do {
        *--at = static_cast<char>('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (amount.isNegative()) *--at = '-';
    *--at = '"';
    piece.end = std::copy(at, end, piece.end);
}

bool JsonText::putIfShort(Piece& piece, std::string_view text)
{
    if (text.size() > kShort - 2 || !std::ranges::all_of(text, isPlain)) return false;
    *piece.end++ = '"';
    piece.end = std::copy(text.begin(), text.end(), piece.end);
    *piece.end++ = '"';
    return true;
}

void JsonText::textField(std::string_view name, std::string_view value)
{
    Piece piece;
    put(piece, name);
    if (putIfShort(piece, value)) {
        append(piece);
    } else {
        key(name);
        text(value);
    }
}

void JsonText::text(std::string_view value)
{
    comma();
    out_ += '"';
    while (!value.empty()) {
        std::size_t plain = 0;
        while (plain < value.size() && isPlain(value[plain])) ++plain;
        out_ += value.substr(0, plain);
        value.remove_prefix(plain);
        if (value.empty()) break;
        if (static_cast<unsigned char>(value[0]) < 0x80) {
            appendEscaped(out_, value[0]);
            value.remove_prefix(1);
            continue;
        }
        std::string_view rest = value;
        if (takeCodePoint(rest)) {
            out_ += value.substr(0, value.size() - rest.size());
            value = rest;
        } else {
            out_ += "\xEF\xBF\xBD";
            value.remove_prefix(1);
            faithful_ = false;
        }
    }
    out_ += '"';
}

}  // namespace jackpot::storage
