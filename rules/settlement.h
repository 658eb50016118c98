// Settling a jackpot: who receives what, and what the pool then is.
#pragma once

#include <vector>

#include "rules/outcome.h"
#include "rules/state.h"

namespace jackpot::rules {

// n successive takes of 10 %, each of what the former left, added up (BJ 14.27.2, UTH 15.2.13.2). A
// take is rounded down to 1e-8 dollar.
Money successiveTenths(Money displayed, std::int64_t winners);

struct Share {
    Money part;       // the aggregate's equal part, rounded up to the payout unit (BJ 5.12)
    Money each;       // what each winner receives: the part or the guarantee
    Money fromHouse;  // what rounding and the guarantee add to the aggregate
};
Share equalShare(Money aggregate, std::int64_t winners, Money guarantee, Money payoutUnit);

// Settles the rounds of `group` (indices into the pool's confirmations, all simultaneous) as if at
// the moment of the earliest of them, applies what has changed the meter since once more on top,
// and takes the group out of the confirmations. Awards come in the order of payment.
void settleTogether(State& state, std::uint32_t pool, std::vector<std::size_t> group,
                    Outcome& outcome);

// Takes one confirmation out; what changed the meter since stays known to the one before it.
void forget(Pool& pool, std::size_t confirmation);

}  // namespace jackpot::rules
