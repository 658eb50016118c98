// Reading a reported result: are these cards that can have been dealt, and what does each seat
// hold?
#pragma once

#include <array>
#include <optional>

#include "rules/commands.h"
#include "rules/outcome.h"
#include "rules/state.h"

namespace jackpot::rules {

// By seat, the first being seat 1.
using Tiers = std::array<Tier, kMaxSeats>;

// Fills `tiers`, or says why the result is refused; `round` says which seats have a wager.
std::optional<Refusal> evaluate(const ReportResult& result, const Round& round, Game game,
                                Tiers& tiers);

}  // namespace jackpot::rules
