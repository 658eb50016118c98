#pragma once

#include "rules/invariants.h"

namespace jackpot::rules {

// A pool's pay table is that of its wager and minimum, and its parameters keep the rules.
// Parameters that two people agreed on also keep the rules and differ from the present ones; once
// the pool has been reset after the agreement, they wait only for confirmed jackpots.
class ParametersInForce final : public Invariant {
public:
    ParametersInForce() : Invariant{7, "the parameters are those in force"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        const Pool& pool = scope.poolChecked();
        if (pool.nextIsDue && (!pool.next || pool.confirmations.empty()))
            return "a change of its parameters was due and has not taken effect";
        // No other command can have changed them.
        const Outcome* outcome = scope.outcome;
        if (outcome && outcome->pool && !outcome->parameters) return {};
        if (pool.payTable != payTableOf(pool.config.game, pool.config.wager, pool.config.minimum))
            return "its pay table is not that of its wager and minimum";
        if (!validate({{pool.config}, {}}).empty()) return "its parameters break a rule";
        if (!pool.next) return {};
        if (*pool.next == parametersOf(pool.config))
            return "the parameters agreed are those it has";
        if (!validate({{withParameters(pool.config, *pool.next)}, {}}).empty())
            return "the parameters agreed break a rule";
        return {};
    }
};

}  // namespace jackpot::rules
