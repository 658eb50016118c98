// Before a command is decided, the windows that have ended by then are settled.
#pragma once

#include "rules/commands.h"
#include "rules/state.h"

namespace jackpot::rules {

// Calls `decide(SettleDue, atMs)` for each window that ends up to `untilMs`, in their order.
// `decide` applies the command to `state`; `atMs` is the moment at which the window ends.
template <class Decide>
void settleDue(const State& state, TimeMs untilMs, Decide&& decide)
{
    for (auto due = state.nextDue(); due && due->atMs <= untilMs; due = state.nextDue())
        decide(SettleDue{state.pools[due->pool].config.id}, due->atMs);
}

}  // namespace jackpot::rules
