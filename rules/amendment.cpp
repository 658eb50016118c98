#include "rules/amendment.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "rules/pool_ledger.h"

namespace jackpot::rules {
namespace {

std::optional<Refusal> bad(std::string_view rule, std::string why)
{
    return refuse(RefusalCode::BadConfiguration, rule, std::move(why));
}

template <class Config>
std::map<std::string_view, const Config*> byId(const std::vector<Config>& configs)
{
    std::map<std::string_view, const Config*> found;
    for (const Config& config : configs) found.emplace(config.id, &config);
    return found;
}

std::string_view firstDifference(const PoolParameters& a, const PoolParameters& b)
{
    if (a.increment != b.increment) return "increment";
    if (a.reserveIncrement != b.reserveIncrement) return "reserve_increment";
    if (a.minimum != b.minimum) return "minimum";
    if (a.cap != b.cap) return "cap";
    if (a.payoutUnit != b.payoutUnit) return "payout_unit";
    if (a.simultaneityWindowMs != b.simultaneityWindowMs) return "simultaneity_window_ms";
    if (a.settleAfterMs != b.settleAfterMs) return "settle_after_ms";
    return a.bonus != b.bonus ? "bonus" : "guarantee";
}

std::optional<Refusal> checkPool(const Pool& pool, const PoolConfig& given)
{
    const std::string named = "pool " + pool.config.id;
    if (given.game != pool.config.game || given.wager != pool.config.wager)
        return bad(ruleOf(pool.config.game, "BJ 14.26", "UTH 15.2.5"),
                   named + " has one game and one wager for good: open another pool");
    const PoolParameters present = parametersOf(pool.config);
    const PoolParameters wanted = parametersOf(given);
    if (wanted == present || wanted == pool.next) return std::nullopt;
    return bad("", named + "'s " + std::string{firstDifference(wanted, present)} +
                       " changes only by a command of two people");
}

// The parameters that are in force and those that are agreed must both suit the new tables.
std::optional<Refusal> checkWindow(const Pool& pool, const Site& site)
{
    const bool isZero = pool.config.simultaneityWindowMs == 0 ||
                        (pool.next && pool.next->simultaneityWindowMs == 0);
    const auto tables = std::ranges::count(site.tables, pool.config.id, &TableConfig::pool);
    if (!isZero || tables <= 1) return std::nullopt;
    return bad("BJ 14.27.4", "pool " + pool.config.id +
                                 " has a window of 0, or one is agreed: it has only one table");
}

bool hasLockedWin(const State& state, const Table& table)
{
    return std::ranges::any_of(state.pools[table.pool].wins, [&](const Win& win) {
        return &state.tables[win.table] == &table && !win.due;
    });
}

std::optional<Refusal> checkTable(const State& state, const Table& table, const TableConfig& given)
{
    const std::string named = "table " + table.config.id;
    if (given.pool != table.config.pool)
        return bad("UTH 15.1.2.2", named + " is linked to pool " + table.config.pool + " for good");
    if (given == table.config) return std::nullopt;
    const Round& round = table.current;
    if (round.isOpen() && !round.resultIn)
        return bad("", named + " has a round without a result: change it between rounds");
    if (round.hasUnconfirmedClaims() || hasLockedWin(state, table))
        return bad("", named + " has a jackpot that is not due yet: change it after that");
    return std::nullopt;
}

}  // namespace

std::optional<Refusal> checkAmendment(const State& state, const Site& site)
{
    const auto pools = byId(site.pools);
    for (const Pool& pool : state.pools) {
        const auto given = pools.find(pool.config.id);
        if (given == pools.end())
            return bad("", "pool " + pool.config.id +
                               " is missing and cannot be removed: suspend it instead");
        if (auto refused = checkPool(pool, *given->second)) return refused;
        if (auto refused = checkWindow(pool, site)) return refused;
    }
    const auto tables = byId(site.tables);
    for (const Table& table : state.tables) {
        const auto given = tables.find(table.config.id);
        if (given == tables.end())
            return bad("", "table " + table.config.id +
                               " is missing and cannot be removed: suspend it instead");
        if (auto refused = checkTable(state, table, *given->second)) return refused;
    }
    return std::nullopt;
}

Site amendedSite(const Site& running, const Site& wanted)
{
    Site site = running;
    for (const PoolConfig& pool : wanted.pools)
        if (std::ranges::find(site.pools, pool.id, &PoolConfig::id) == site.pools.end())
            site.pools.push_back(pool);
    for (const TableConfig& table : wanted.tables) {
        const auto found = std::ranges::find(site.tables, table.id, &TableConfig::id);
        if (found == site.tables.end())
            site.tables.push_back(table);
        else if (found->pool == table.pool)
            *found = table;
    }
    return site;
}

void amend(State& state, const Site& site, Outcome& outcome)
{
    const auto poolsBefore = static_cast<std::uint32_t>(state.pools.size());
    const auto tablesBefore = static_cast<std::uint32_t>(state.tables.size());
    Amendment amendment;
    for (const TableConfig& config : site.tables)
        if (const auto known = state.findTable(config.id))
            if (state.tables[*known].config != config) amendment.changedTables.push_back(*known);
    std::ranges::sort(amendment.changedTables);

    state.configure(site);
    for (std::uint32_t i = poolsBefore; i < state.pools.size(); ++i) {
        PoolLedger{state.pools[i], i, outcome}.open(state.pools[i].config.openingAmount());
        amendment.newPools.push_back(i);
    }
    for (std::uint32_t i = tablesBefore; i < state.tables.size(); ++i)
        amendment.newTables.push_back(i);
    const bool wasThere = poolsBefore + tablesBefore > 0;
    if (wasThere && amendment != Amendment{}) outcome.amendment = std::move(amendment);
}

void takeAgreedParameters(State& state, std::uint32_t index, Outcome& outcome)
{
    Pool& pool = state.pools[index];
    if (!pool.nextIsDue || !pool.wins.empty()) return;
    PoolConfig& config = pool.config;
    outcome.parameters = {ParametersState::InForce, parametersOf(config), *pool.next};
    config = withParameters(config, *pool.next);
    pool.payTable = payTableOf(config);
    pool.next.reset();
    pool.nextIsDue = false;
    PoolLedger{pool, index, outcome}.restoreMinimum();
    outcome.notices.push_back({NoticeKind::ParametersInForce,
                               ruleOf(config.game, "BJ 14.26.2", "UTH 15.2.5"),
                               "pool " + config.id + " has new parameters since this reset"});
}

}  // namespace jackpot::rules
