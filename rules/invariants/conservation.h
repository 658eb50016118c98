#pragma once

#include "rules/invariants.h"

namespace jackpot::rules {

// For each pool, to 1e-8 dollar: meter + reserve = seeded + contributed - returned - paid from the
// pool + adjusted.
class Conservation final : public Invariant {
public:
    Conservation() : Invariant{1, "conservation"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        const Pool& pool = scope.poolChecked();
        const Totals& t = pool.totals;
        const Money there = pool.meter + pool.reserve;
        const Money accounted = t.seeded + t.contributed - t.returned - t.paidFromPool + t.adjusted;
        if (there == accounted) return {};
        return "meter and reserve are " + toExact(there) + ", the totals account for " +
               toExact(accounted);
    }
};

}  // namespace jackpot::rules
