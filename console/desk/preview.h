// Previews: the outcome of a command on a copy of the state. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/apply.h"

namespace jackpot::console {

struct Preview {
    rules::Outcome outcome;
    rules::State after;
};

// Applies the command at the time of the newest confirmation, after settling what is due by then.
// No amount depends on the time of a ruling, so the preview pays what the ruling will pay.
Preview previewCommand(const rules::State& state, const rules::Command& command);

using RulingOrder = std::vector<std::vector<rules::RoundRef>>;

// Every order in which up to three rounds can have won, together or one after the other: 1, 3
// or 13. For more rounds, only two: all together, and one after the other as they were confirmed.
inline constexpr std::size_t kAllRulingsUpTo = 3;
std::vector<RulingOrder> possibleRulings(const std::vector<rules::RoundRef>& held);

// The number of the hold that the order names; 0 if its first round is not held.
std::uint64_t holdOf(const rules::State& state, const rules::Pool& pool, const RulingOrder& order);

// Hash of what the person saw: the wins of the hold and the awards. Wagers received in the meantime
// do not change it; anything that changes an award does.
std::string rulingToken(const rules::State& before, const rules::Pool& pool,
                        const RulingOrder& order, const rules::Outcome& outcome);

}  // namespace jackpot::console
