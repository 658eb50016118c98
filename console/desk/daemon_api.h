// Routes about the daemon itself: status, meters, reload, and parameters that two people have
// agreed on. They need no accounts.
#pragma once

#include <optional>
#include <vector>

#include "console/desk/controller.h"
#include "console/people/access.h"

namespace jackpot::console {

// Why these parameters cannot be agreed on: settle_after_ms is too short for the daemon to know of
// a lost link before a win is due. Nothing if they can.
std::optional<rules::Refusal> checkSettleAfter(const Controller& controller,
                                               const rules::PoolConfig& pool,
                                               const rules::PoolParameters& to);

// The controller outlives the routes.
std::vector<Route> daemonRoutes(const Controller& controller);

}  // namespace jackpot::console
