// Settling a jackpot: who receives what from a meter as it stands.
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

struct Settlement {
    std::vector<Award> awards;  // in the order of payment
    Money fromPool;             // what the pool pays of them
};

// Settles the rounds of one group, in the order of payment, from the meter at their place. Changes
// nothing.
Settlement settle(const State& state, const Pool& pool, const std::vector<const Win*>& group,
                  Money meter);

// For the order of payment: bonus, 10 % tier, 100 % tier.
int stepOf(const PayTable& payTable, Tier tier);

}  // namespace jackpot::rules
