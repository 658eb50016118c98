// A small valid configuration, and changed copies of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.h"

namespace jackpot::config::testing {

extern const std::string_view kSampleConfig;

// The pay tables of kSampleConfig alone: B5 for Blazing 7's, U1 for Hold'em.
std::string samplePaytables();

// `text` with the one occurrence of `from` replaced; throws std::logic_error unless there is
// exactly one.
std::string with(std::string_view text, std::string_view from, std::string_view to);
// The line number of the first occurrence of `at`.
std::uint32_t lineOf(std::string_view text, std::string_view at);

Config parsed(std::string_view text);
std::vector<ConfigProblem> problemsOf(std::string_view text);

}  // namespace jackpot::config::testing
