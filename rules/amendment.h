// Changes to a site in play: what a new configuration may change, and how parameters that two
// people agreed on take effect.
#pragma once

#include <optional>

#include "rules/outcome.h"
#include "rules/state.h"

namespace jackpot::rules {

// Why `site`, which has passed validate(), cannot take the place of the one in play; of an empty
// state any can.
std::optional<Refusal> checkAmendment(const State& state, const Site& site);

// The site that a running daemon may change to: `running` with the pools and tables that `wanted`
// adds, and with its parameters for the tables that stay in their pool.
Site amendedSite(const Site& running, const Site& wanted);

// Carries out what checkAmendment() has passed: opens new pools, links new tables, changes those
// that are not in play. No index changes.
void amend(State& state, const Site& site, Outcome& outcome);

// At the end of a command: once the pool was reset since a change was agreed, and it has no open
// win that may be settled again, the change is in force.
void takeAgreedParameters(State& state, std::uint32_t pool, Outcome& outcome);

}  // namespace jackpot::rules
