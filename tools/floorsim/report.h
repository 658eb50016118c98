// The result of a floorsim run as text and as JSON, and its progress while it runs.
#pragma once

#include <string>

#include "tools/floorsim/run.h"

namespace jackpot::floorsim {

std::string reportText(const FloorResult& result);
std::string reportJson(const FloorResult& result, std::uint64_t seed);

// Progress as one line, and as a whole terminal screen.
std::string progressLine(const FloorView& view);
std::string progressScreen(const FloorView& view);

}  // namespace jackpot::floorsim
