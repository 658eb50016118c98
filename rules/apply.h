// The one entry point of the rules.
#pragma once

#include "rules/commands.h"
#include "rules/outcome.h"
#include "rules/state.h"

namespace jackpot::rules {

// Decides `command` at the time `now` and carries it out. No clock, no I/O, no randomness: the same
// state, command and time always give the same outcome and state.
//
// A command that the rules do not allow is refused and leaves the state as it was. What the command
// touched is checked against the invariants (docs/invariants.md) in every build type; a breach
// throws InvariantViolation, and the state must then not be used any more.
//
// `now` never decreases from one call to the next. A win whose wait has ended by `now` comes first:
// give SettleDue to each pool whose Pool::nextLookMs is not after `now`, then the command; apply()
// throws InvariantViolation if that was left out.
//
// One thread at a time.
Outcome apply(State& state, const Command& command, TimeMs now);

}  // namespace jackpot::rules
