// Routes about the daemon itself: status, meters, reload, and parameters that two people have
// agreed on. They need no accounts.
#pragma once

#include <vector>

#include "console/desk/controller.h"
#include "console/people/access.h"

namespace jackpot::console {

// The controller outlives the routes.
std::vector<Route> daemonRoutes(const Controller& controller);

}  // namespace jackpot::console
