#pragma once

#include <vector>

#include "rules/invariants.h"

namespace jackpot::rules {

// Of one round, a seat has an award of a tier at most once that is due and not withdrawn.
class PaidOnce final : public Invariant {
public:
    PaidOnce() : Invariant{4, "no seat is paid twice for a tier"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        if (!scope.outcome) {
            for (const Table& table : scope.state.tables)
                if (table.pool == scope.pool)
                    if (auto breach = checkTable(table); !breach.empty()) return breach;
            return {};
        }
        for (const Award& award : scope.outcome->awards)
            if (auto breach = checkTable(scope.state.tables[award.table]); !breach.empty())
                return breach;
        return {};
    }

private:
    static std::string checkTable(const Table& table)
    {
        const auto twice = [&table](const std::vector<DueAward>& due) -> std::string {
            for (auto a = due.begin(); a != due.end(); ++a)
                for (auto b = a + 1; b != due.end(); ++b)
                    if (a->round == b->round && a->seat == b->seat && a->tier == b->tier)
                        return "table " + table.config.id + ", round " + std::to_string(a->round) +
                               ", seat " + std::to_string(a->seat) + " has " +
                               std::string{idOf(a->tier)} + " twice";
            return {};
        };
        std::string breach = twice(table.jackpotsDue);
        if (breach.empty()) breach = twice(table.current.due);
        for (const Round& round : table.waiting)
            if (breach.empty()) breach = twice(round.due);
        return breach;
    }
};

}  // namespace jackpot::rules
