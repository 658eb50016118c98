// Before a command is decided, the wins whose time has come by then are due or final.
#pragma once

#include "rules/commands.h"
#include "rules/state.h"

namespace jackpot::rules {

// Calls `decide(SettleDue, atMs)` for each time up to `untilMs` at which a win is due or final, in
// their order. `decide` applies the command to `state`.
template <class Decide>
void settleDue(const State& state, TimeMs untilMs, Decide&& decide)
{
    for (auto due = state.nextDue(); due && due->atMs <= untilMs; due = state.nextDue())
        decide(SettleDue{state.pools[due->pool].config.id}, due->atMs);
}

}  // namespace jackpot::rules
