#include "storage/json_text.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "base/json_string.h"

namespace jackpot::storage {
namespace {

constexpr bool isPlain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

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
    if (!appendJsonString(out_, value)) faithful_ = false;
}

}  // namespace jackpot::storage
