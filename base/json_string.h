// Text as a JSON string.
#pragma once

#include <string>
#include <string_view>

namespace jackpot {

// Appends the text with its quotes, escaped. Bytes that are not UTF-8 become U+FFFD each; the
// result is false if there were any.
bool appendJsonString(std::string& out, std::string_view text);

}  // namespace jackpot
