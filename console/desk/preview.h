// What a command would do, tried on a copy of the state. Pure functions.
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

// At the moment of the newest confirmation, what is due by then settled first: no amount depends on
// the time of a ruling.
Preview previewCommand(const rules::State& state, const rules::Command& command);

using RulingOrder = std::vector<std::vector<rules::RoundRef>>;

// Of the held claims, in the order of their confirmations.
std::vector<rules::RoundRef> heldRounds(const rules::State& state, const rules::Pool& pool);

// Every way in which so many rounds can have won together or one after the other (1, 3, 13 for up
// to three); of more, all together and one after the other as they were confirmed.
inline constexpr std::size_t kAllRulingsUpTo = 3;
std::vector<RulingOrder> possibleRulings(const std::vector<rules::RoundRef>& held);

// What a ruling was seen to rest on and to pay: the pool's confirmations and the awards. Wagers
// that come in meanwhile leave it as it is; whatever changes an award does not.
std::string rulingToken(const rules::State& before, const rules::Pool& pool,
                        const rules::Outcome& outcome);

}  // namespace jackpot::console
