#pragma once

#include "rules/invariants.h"

namespace jackpot::rules {

// Starting at the moment of the oldest waiting confirmation, the recorded changes of the meter lead
// through each later moment to the present meter.
class MomentsLeadToNow final : public Invariant {
public:
    MomentsLeadToNow() : Invariant{6, "moments lead to the meter as it stands"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        const Pool& pool = scope.poolChecked();
        if (pool.confirmations.empty()) return {};
        Money meter = pool.confirmations.front().meter;
        for (const Confirmation& each : pool.confirmations) {
            if (each.meter != meter)
                return "the moment of round " + std::to_string(each.round) + " has the meter at " +
                       toExact(each.meter) + ", the moments before it lead to " + toExact(meter);
            meter = each.since.appliedTo(meter);
        }
        if (meter == pool.meter) return {};
        return "the moments lead to " + toExact(meter) + ", the meter is " + toExact(pool.meter);
    }
};

}  // namespace jackpot::rules
