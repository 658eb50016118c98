// Text forms of bytes, numbers and lines. Each value has exactly one text form. Every other form is
// refused, so that formatting a parsed value yields the same bytes. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jackpot {

// RFC 4648 section 4, with padding; decoding refuses missing padding and non-zero bits after the
// last byte.
std::string encodeBase64(std::string_view bytes);
Result<std::string> decodeBase64(std::string_view text);

// Lower case.
std::string encodeHex(std::string_view bytes);
Result<std::string> decodeHex(std::string_view text);

// 0 to 2^63 - 1 in ASCII digits, no sign, no leading zero.
Result<std::uint64_t> parseDecimal(std::string_view text);

// Removes the next line from `rest` and returns it without its newline. A line without a newline is
// refused.
Result<std::string_view> takeLine(std::string_view& rest);

}  // namespace jackpot
