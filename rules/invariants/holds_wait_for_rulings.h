#pragma once

#include <algorithm>
#include <vector>

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
        TimeMs nextLookMs = Pool::kNever;
        std::vector<const Win*> touched;
        for (const Win& win : pool.wins) {
            nextLookMs = std::min(nextLookMs, pool.lookMs(win));
            if (win.hold != 0 && win.due) return text(scope, win) + " is held and due";
            if (isTouched(scope, win)) touched.push_back(&win);
        }
        if (nextLookMs != pool.nextLookMs) return "the next look is not planned";

        std::ranges::sort(touched, {}, &Win::place);
        const auto differ = [](const Win* a, const Win* b) {
            return a->place == b->place && (a->hold != b->hold || a->due != b->due);
        };
        if (const auto mate = std::ranges::adjacent_find(touched, differ); mate != touched.end())
            return text(scope, **mate) + " is not as the others of its group";
        return checkHolds(scope, std::move(touched));
    }

private:
    // A void or a correction may leave any hold with too little.
    static bool isTouched(const Scope& scope, const Win& win)
    {
        const auto& places = scope.poolChecked().places;
        if (!scope.outcome || std::ranges::find(scope.outcome->claims, ClaimState::Dropped,
                                                &ClaimChange::state) != scope.outcome->claims.end())
            return true;
        return scope.firstPlace < places.size() && win.place >= places[scope.firstPlace].key;
    }

    static std::string checkHolds(const Scope& scope, std::vector<const Win*> wins)
    {
        std::erase_if(wins, [](const Win* win) { return win->hold == 0; });
        std::ranges::sort(wins, {}, &Win::hold);
        for (auto win = wins.begin(); win != wins.end();) {
            const std::uint64_t number = (*win)->hold;
            bool hasReason = false;
            for (const Win& each : scope.poolChecked().wins)
                hasReason = hasReason || (each.hold == number &&
                                          (each.holdsItself || each.table != (*win)->table));
            if (!hasReason) return text(scope, **win) + " is held with nothing to rule on";
            win = std::find_if(win, wins.end(),
                               [number](const Win* each) { return each->hold != number; });
        }
        return {};
    }

    static std::string text(const Scope& scope, const Win& win)
    {
        return "table " + scope.state.tables[win.table].config.id + ", round " +
               std::to_string(win.round);
    }
};

}  // namespace jackpot::rules
