// Runs a scenario through the rules with virtual time: no network, no disk.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rules/apply.h"
#include "tools/jackpotctl/scenario.h"

namespace jackpot::ctl {

// One command and what it did. `event` is the index in the scenario of the event, or of the one
// before which a look was taken.
struct Step {
    rules::TimeMs atMs = 0;
    std::size_t event = 0;
    bool isLook = false;                      // or the configuration: no event
    const rules::Command* command = nullptr;  // nullptr where the event's type is unknown
    const rules::Outcome* outcome = nullptr;
};

// The time of the look after the last event.
inline constexpr rules::TimeMs kEndOfTime = std::numeric_limits<rules::TimeMs>::max() / 4;

// `observe` sees each step and the state after it. Returns the state at the end.
rules::State simulate(const Scenario& scenario,
                      const std::function<void(const Step&, const rules::State&)>& observe);

// The outcome in the scenario format's JSON.
std::string simulateToJson(const Scenario& scenario);

// The same for people: each event, what it did to the pool, each award with rule and arithmetic.
std::string simulateToAccount(const Scenario& scenario);

// The holds of a pool, and the rounds of each, sorted.
std::vector<std::vector<rules::RoundRef>> sortedHolds(const rules::State& state,
                                                      const rules::Pool& pool);
// The awards of a pool that are locked, in the order of payment.
std::vector<rules::Award> lockedAwards(const rules::State& state, const rules::Pool& pool);

}  // namespace jackpot::ctl
