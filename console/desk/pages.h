// The web pages, bundled by console/web/build.mjs and compiled into the program.
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

// Anyone may load a page: it contains no data. It reads all data from the API.
std::vector<Route> pageRoutes();

}  // namespace jackpot::console
