// A small configuration that loads, and changes to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.h"

namespace jackpot::config::testing {

extern const std::string_view kGood;

// `text` with `from`, which must be there once, replaced.
std::string with(std::string_view text, std::string_view from, std::string_view to);
// The line of the first `at` in the text.
std::uint32_t lineOf(std::string_view text, std::string_view at);

Config parsed(std::string_view text);
std::vector<ConfigProblem> problemsOf(std::string_view text);

}  // namespace jackpot::config::testing
