#pragma once

#include "rules/invariants.h"

namespace jackpot::rules {

// No award of a final round is withdrawn, and a final round has no open win.
class FinalWinsStand final : public Invariant {
public:
    FinalWinsStand() : Invariant{8, "final wins stand"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        if (!scope.outcome) {
            for (const Win& win : scope.poolChecked().wins)
                if (isFinal(scope, win.table, win.round)) return text(scope, win.table, win.round);
            return {};
        }
        for (const Withdrawal& award : scope.outcome->withdrawn)
            if (isFinal(scope, award.table, award.round))
                return text(scope, award.table, award.round);
        return {};
    }

private:
    static bool isFinal(const Scope& scope, std::uint32_t table, std::int64_t number)
    {
        const Round* round = scope.state.tables[table].findRound(number);
        return round && round->final;
    }
    static std::string text(const Scope& scope, std::uint32_t table, std::int64_t number)
    {
        return "table " + scope.state.tables[table].config.id + ", round " +
               std::to_string(number) + " is final and was changed";
    }
};

}  // namespace jackpot::rules
