#pragma once

#include "rules/invariants.h"

namespace jackpot::rules {

// After a command, a pool's displayed amount is not below its minimum (BJ 14.28), and its reserve
// is not below zero.
class MinimumAtRest final : public Invariant {
public:
    MinimumAtRest() : Invariant{2, "minimum at rest"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        const Pool& pool = scope.poolChecked();
        if (pool.displayed() < pool.config.minimum)
            return "the displayed amount " + toCents(pool.displayed()) + " is below the minimum " +
                   toCents(pool.config.minimum);
        if (pool.reserve.isNegative()) return "the reserve is " + toExact(pool.reserve);
        return {};
    }
};

}  // namespace jackpot::rules
