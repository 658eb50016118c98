// The pages that people look at: bundled by console/web/build.mjs, part of the program.
#pragma once

#include <string_view>
#include <vector>

#include "console/people/access.h"

namespace jackpot::console {

struct Asset {
    std::string_view name;  // "console-4F2A.js"
    std::string_view contentType;
    std::string_view bytes;
};

const std::vector<Asset>& assets();

// Pages hold nothing but themselves; what they show, they ask of the API.
std::vector<Route> pageRoutes();

}  // namespace jackpot::console
