// Untrusted text, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace jackpot {

// Replaces everything that could control a terminal by its escape, such as \x1b or \u202e: control
// characters, characters that reorder text, bytes that are not UTF-8.
std::string printable(std::string_view text);

}  // namespace jackpot
