// Text from outside on its way to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace jackpot {

// The text with everything visible that would steer a terminal, as \x1b or \u202e: control
// characters, characters that reorder text, bytes that are not UTF-8.
std::string printable(std::string_view text);

}  // namespace jackpot
