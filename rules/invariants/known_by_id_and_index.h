#pragma once

#include "rules/invariants.h"

namespace jackpot::rules {

// Each pool and table is found by its id at its own index, and each table's pool by the id it was
// configured with.
class KnownByIdAndIndex final : public Invariant {
public:
    KnownByIdAndIndex() : Invariant{8, "pools and tables stay where they are"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        const State& state = scope.state;
        if (state.findPool(scope.poolChecked().config.id) != scope.pool)
            return "the pool is not found by its id";
        // Only a configuration touches tables that it does not name.
        if (scope.outcome && scope.outcome->pool) return {};
        for (std::uint32_t i = 0; i < state.tables.size(); ++i) {
            const Table& table = state.tables[i];
            if (table.pool != scope.pool) continue;
            if (state.findTable(table.config.id) != i ||
                state.findPool(table.config.pool) != scope.pool)
                return "table " + table.config.id + " is not found by its id and its pool's";
        }
        return {};
    }
};

}  // namespace jackpot::rules
