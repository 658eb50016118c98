#pragma once

#include <algorithm>

#include "rules/invariants.h"

namespace jackpot::rules {

// Each confirmation that waits belongs to one round whose jackpot is confirmed, claimed and not
// settled, and no two to the same.
class SettledOnce final : public Invariant {
public:
    SettledOnce() : Invariant{5, "no claim is settled twice"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        const auto& all = scope.poolChecked().confirmations;
        for (auto each = all.begin(); each != all.end(); ++each) {
            const Table& table = scope.state.tables[each->table];
            const Round* round = table.findRound(each->round);
            const std::string where = "the confirmation of table " + table.config.id + ", round " +
                                      std::to_string(each->round);
            if (!round || round->settled || round->voided || !round->awaitsSettlement())
                return where + " has no claim that waits";
            if (std::any_of(all.begin(), each, [&](const Confirmation& other) {
                    return other.table == each->table && other.round == each->round;
                }))
                return where + " is there twice";
        }
        return {};
    }
};

}  // namespace jackpot::rules
