// The state, time and outcome of one command, and the checks that several handlers share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/outcome.h"
#include "rules/pool_ledger.h"
#include "rules/simultaneous.h"
#include "rules/state.h"

namespace jackpot::rules {

using Refused = std::optional<Refusal>;
inline constexpr std::nullopt_t kAccepted = std::nullopt;

// Borrows the state and the outcome for one command. findTable() or findPool() comes first: the
// other functions are about the pool that it found.
struct Context {
    State& state;
    TimeMs now;
    Outcome& out;

    // nullptr if there is none with this id.
    Table* findTable(std::string_view id)
    {
        const auto index = state.findTable(id);
        if (!index) return nullptr;
        Table& table = state.tables[*index];
        out.pool = table.pool;
        return &table;
    }
    Pool* findPool(std::string_view id)
    {
        out.pool = state.findPool(id);
        return out.pool ? &state.pools[*out.pool] : nullptr;
    }

    [[nodiscard]] Pool& poolOf(const Table& table) const { return state.pools[table.pool]; }
    [[nodiscard]] std::uint32_t indexOf(const Table& table) const
    {
        return static_cast<std::uint32_t>(&table - state.tables.data());
    }
    [[nodiscard]] Game game() const { return state.pools[*out.pool].config.game; }
    // The rule of the pool's game.
    [[nodiscard]] std::string_view rule(std::string_view blackjack, std::string_view holdem) const
    {
        return ruleOf(game(), blackjack, holdem);
    }
    [[nodiscard]] PoolLedger ledger() const { return {state.pools[*out.pool], *out.pool, out}; }
    [[nodiscard]] Simultaneity simultaneity() const { return {state, *out.pool, now, out}; }

    void notify(Notify whom, std::string_view rule, std::string text) const
    {
        out.notices.push_back({whom, rule, std::move(text)});
    }
};

Refused unknownTable(const std::string& id);
Refused unknownPool(const std::string& id);
Refused wrongRound(const Table& table, std::int64_t number);

// `number` is the table's newest round, and it is not void.
Refused checkCurrent(const Context& context, const Table& table, std::int64_t number);
Refused checkNotVoid(const Context& context, const Round& round);
Refused checkTwoPeople(const std::vector<std::string>& by, const std::string& reason);
// Keeps every total where no movement still under way can leave 64 bits.
Refused checkRoom(const Pool& pool, Money moved);

// Refused with `otherwise` if the flag has the value already.
Refused flip(bool& flag, bool to, RefusalCode otherwise, std::string detail);

}  // namespace jackpot::rules
