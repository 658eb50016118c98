#pragma once

#include "rules/invariants.h"

namespace jackpot::rules {

// Each open win belongs to one confirmed round with claims that is neither void nor final, and each
// such round has one open win.
class WinsHaveRounds final : public Invariant {
public:
    WinsHaveRounds() : Invariant{5, "open wins are confirmed rounds"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        if (!scope.outcome) {
            for (std::uint32_t i = 0; i < scope.state.tables.size(); ++i)
                if (scope.state.tables[i].pool == scope.pool)
                    if (auto breach = checkTable(scope, i); !breach.empty()) return breach;
            return {};
        }
        std::uint32_t checked = kNoTable;
        for (const ClaimChange& claim : scope.outcome->claims) {
            if (claim.table == checked) continue;
            checked = claim.table;
            if (auto breach = checkTable(scope, claim.table); !breach.empty()) return breach;
        }
        return {};
    }

private:
    static constexpr std::uint32_t kNoTable = 0xFFFF'FFFF;

    static std::string checkTable(const Scope& scope, std::uint32_t index)
    {
        const Table& table = scope.state.tables[index];
        std::size_t wins = 0;
        std::int64_t last = 0;
        for (const Win& win : scope.poolChecked().wins) {
            if (win.table != index) continue;
            ++wins;
            const Round* round = table.findRound(win.round);
            if (!round || !round->hasOpenWin() || round->voided || !round->hasClaims() ||
                win.round <= last)
                return "the win of table " + table.config.id + ", round " +
                       std::to_string(win.round) + " has no confirmed round of its own";
            last = win.round;
        }
        if (wins != table.openWins() || wins > kMaxOpenWins)
            return "table " + table.config.id + " has " + std::to_string(table.openWins()) +
                   " open wins, its pool knows " + std::to_string(wins);
        return {};
    }
};

}  // namespace jackpot::rules
