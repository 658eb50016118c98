#pragma once

#include <algorithm>
#include <map>

#include "rules/invariants.h"

namespace jackpot::rules {

// A held win is not due. The wins of a group are held or due together. A hold with wins of one
// table only has one that is impossible or waits for an offline table. The next look is planned.
class HoldsWaitForRulings final : public Invariant {
public:
    HoldsWaitForRulings() : Invariant{7, "holds wait for rulings"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        // No other command changes a win.
        if (scope.outcome && scope.outcome->claims.empty()) return {};
        const Pool& pool = scope.poolChecked();
        std::map<PlaceKey, const Win*> groups;
        struct Held {
            std::uint32_t table = 0;
            bool hasReason = false;
        };
        std::map<std::uint64_t, Held> holds;
        TimeMs nextLookMs = Pool::kNever;
        for (const Win& win : pool.wins) {
            nextLookMs = std::min(nextLookMs, pool.lookMs(win));
            if (win.hold != 0 && win.due) return text(scope, win) + " is held and due";
            const Win& mate = *groups.emplace(win.place, &win).first->second;
            if (mate.hold != win.hold || mate.due != win.due)
                return text(scope, win) + " is not as the others of its group";
            if (win.hold == 0) continue;
            Held& held = holds.emplace(win.hold, Held{win.table, false}).first->second;
            held.hasReason = held.hasReason || win.holdsItself || held.table != win.table;
        }
        for (const auto& [number, held] : holds)
            if (!held.hasReason) return "a hold has nothing to rule on";
        return nextLookMs == pool.nextLookMs ? std::string{} : "the next look is not planned";
    }

private:
    static std::string text(const Scope& scope, const Win& win)
    {
        return "table " + scope.state.tables[win.table].config.id + ", round " +
               std::to_string(win.round);
    }
};

}  // namespace jackpot::rules
