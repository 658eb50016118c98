// Text as its senders wrote it is UTF-8 or nothing. Here because every folder takes text from
// outside and may use the rules.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace jackpot {

// Takes the next code point off a rest that is not empty; nothing where it is malformed.
std::optional<char32_t> takeCodePoint(std::string_view& rest);

// The position of the first byte that is not UTF-8; npos if all are.
std::size_t findBadUtf8(std::string_view text);
inline bool isUtf8(std::string_view text) { return findBadUtf8(text) == std::string_view::npos; }

// Unicode's White_Space.
bool isSpace(char32_t c);

}  // namespace jackpot
