#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "rules/invariants.h"

namespace jackpot::rules {

// Each award is known by its round, seat and tier, at most once.
class AwardDueOnce final : public Invariant {
public:
    AwardDueOnce() : Invariant{4, "no award is due twice"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        if (!scope.outcome) {
            for (const Table& table : scope.state.tables)
                if (table.pool == scope.pool &&
                    (hasTwice(table.awards) || hasTwice(table.jackpots)))
                    return "table " + table.config.id + " has an award twice";
            return {};
        }
        for (const Award& award : scope.outcome->awards) {
            const Table& table = scope.state.tables[award.table];
            const auto& records = isJackpot(award.tier) ? table.jackpots : table.awards;
            const auto known = std::ranges::count_if(records, [&](const AwardRecord& record) {
                return record.round == award.round && record.seat == award.seat &&
                       record.tier == award.tier && record.due() == award.amount;
            });
            if (known != 1)
                return "table " + table.config.id + ", round " + std::to_string(award.round) +
                       ", seat " + std::to_string(award.seat) + " has " +
                       std::string{idOf(award.tier)} + " due " + std::to_string(known) + " times";
        }
        return {};
    }

private:
    static bool hasTwice(const std::vector<AwardRecord>& records)
    {
        std::vector<std::tuple<std::int64_t, int, Tier>> keys;
        for (const AwardRecord& record : records)
            keys.emplace_back(record.round, record.seat, record.tier);
        std::ranges::sort(keys);
        return std::ranges::adjacent_find(keys) != keys.end();
    }
};

}  // namespace jackpot::rules
