// Runs a scenario through the rules with virtual time: no network, no disk.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rules/apply.h"
#include "tools/jackpotctl/scenario.h"

namespace jackpot::ctl {

// One command and what it did. `event` is its index in the scenario; none for what happens by
// itself.
struct Step {
    rules::TimeMs atMs = 0;
    std::optional<std::size_t> event;
    const rules::Command* command = nullptr;  // nullptr where the event's type is unknown
    const rules::Outcome* outcome = nullptr;
};

// `observe` sees each step and the state after it. Returns the state at the end.
rules::State simulate(const Scenario& scenario,
                      const std::function<void(const Step&, const rules::State&)>& observe);

// The outcome in the scenario format's JSON.
std::string simulateToJson(const Scenario& scenario);

// The same for people: each event, what it did to the pool, each award with rule and arithmetic.
std::string simulateToAccount(const Scenario& scenario);

// The rounds of a pool that wait for a ruling, sorted.
std::vector<rules::RoundRef> sortedHeldRounds(const rules::State& state, const rules::Pool& pool);

}  // namespace jackpot::ctl
