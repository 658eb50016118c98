#pragma once

#include <algorithm>
#include <vector>

#include "rules/invariants.h"
#include "rules/settlement.h"

namespace jackpot::rules {

// Locked and due awards and the meter are what settling all open wins again gives, from the meter
// before the first place on.
class WinsComputedAgain final : public Invariant {
public:
    WinsComputedAgain() : Invariant{6, "wins computed again come out the same"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        const Pool& pool = scope.poolChecked();
        if (pool.places.empty())
            return pool.wins.empty() ? std::string{} : "an open win has no place";
        const Money minimum = pool.config.minimum;
        for (std::size_t i = scope.firstPlace; i < pool.places.size(); ++i) {
            const Place& place = pool.places[i];
            const Money before = i == 0 ? pool.base : pool.places[i - 1].after(minimum);
            if (place.before != before)
                return "a place has the meter at " + toExact(place.before) +
                       ", those before it lead to " + toExact(before);
        }
        if (scope.firstPlace < pool.places.size())
            if (auto breach = checkAwards(scope, pool); !breach.empty()) return breach;
        const Money now = pool.places.back().after(minimum);
        if (now == pool.meter) return {};
        return "the places lead to " + toExact(now) + ", the meter is " + toExact(pool.meter);
    }

private:
    static std::string checkAwards(const Scope& scope, const Pool& pool)
    {
        const auto& tables = scope.state.tables;
        std::vector<const Win*> wins;
        for (const Win& win : pool.wins)
            if (win.place >= pool.places[scope.firstPlace].key) wins.push_back(&win);
        std::ranges::sort(wins, [&tables](const Win* a, const Win* b) {
            return std::tie(a->place, a->arrivedMs, tables[a->table].config.id) <
                   std::tie(b->place, b->arrivedMs, tables[b->table].config.id);
        });
        auto next = wins.begin();
        for (std::size_t i = scope.firstPlace; i < pool.places.size(); ++i) {
            std::vector<const Win*> group;
            while (next != wins.end() && (*next)->place == pool.places[i].key)
                group.push_back(*next++);
            if (!comesOutTheSame(scope.state, pool, pool.places[i], group))
                return "the wins at a place with the meter at " + toExact(pool.places[i].before) +
                       " come out otherwise";
        }
        return next == wins.end() ? std::string{} : "an open win has no place";
    }

    static bool comesOutTheSame(const State& state, const Pool& pool, const Place& place,
                                const std::vector<const Win*>& group)
    {
        const Settlement again = settle(state, pool, group, place.before);
        if (again.fromPool != place.paid) return false;
        std::vector<WinAward> awards;
        for (const Win* win : group) {
            awards.clear();
            for (const Award& award : again.awards)
                if (award.table == win->table)
                    awards.push_back({award.seat, award.tier, award.amount});
            if (awards != win->awards) return false;
        }
        return true;
    }
};

}  // namespace jackpot::rules
