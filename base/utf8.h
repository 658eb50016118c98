// Text from outside must be well-formed UTF-8.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace jackpot {

// Removes the next code point from `rest`, which must not be empty. nullopt if it is malformed.
std::optional<char32_t> takeCodePoint(std::string_view& rest);

// The position of the first byte that is not well-formed UTF-8; npos if there is none.
std::size_t findBadUtf8(std::string_view text);
inline bool isUtf8(std::string_view text) { return findBadUtf8(text) == std::string_view::npos; }

// True if the character has Unicode's property White_Space.
bool isSpace(char32_t c);

}  // namespace jackpot
