// The command line of floorsim.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/floorsim/run.h"

namespace jackpot::floor {

extern const std::string_view kFloorHelp;

struct FloorOptions {
    FloorSettings settings;
    bool live = false;
    std::string caption;  // below the live screen
    bool json = false;
    bool quiet = false;
};

// Throws audit::Stop with what is wrong and what to do about it.
FloorOptions readOptions(const std::vector<std::string>& given);

}  // namespace jackpot::floor
