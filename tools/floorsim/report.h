// What a run of floorsim came to, for people and as JSON, and how it looks while it goes on.
#pragma once

#include <string>

#include "tools/floorsim/run.h"

namespace jackpot::floorsim {

std::string reportText(const FloorResult& result);
std::string reportJson(const FloorResult& result, std::uint64_t seed);

// One line; and a whole screen for a terminal.
std::string progressLine(const FloorView& view);
std::string progressScreen(const FloorView& view);

}  // namespace jackpot::floorsim
