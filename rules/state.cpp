#include "rules/state.h"

#include <algorithm>

namespace jackpot::rules {
namespace {

// For a table that may be changed and for one that may not.
template <class AnyTable>
auto findIn(AnyTable& table, std::int64_t number) -> decltype(&table.current)
{
    if (table.current.opened && table.current.number == number) return &table.current;
    const auto found = std::ranges::find(table.earlier, number, &Round::number);
    return found == table.earlier.end() ? nullptr : &*found;
}

}  // namespace

void Round::startAnew(std::int64_t roundNumber, TimeMs now)
{
    opened = true;
    number = roundNumber;
    openedMs = now;
    resultIn = voided = closed = confirmed = final = false;
    for (Seat& seat : seats) {
        seat.wagered = seat.claims = false;
        seat.toMeter = seat.toReserve = Money{};
        seat.tier = Tier::None;
        seat.playerCard.clear();
    }
}

const Round* Table::findRound(std::int64_t number) const { return findIn(*this, number); }
Round* Table::findRound(std::int64_t number) { return findIn(*this, number); }

void Table::dropIfDone(std::int64_t number)
{
    std::erase_if(earlier, [number](const Round& round) {
        return round.number == number && !round.hasOpenWin();
    });
}

void State::configure(const Site& site)
{
    for (const PoolConfig& config : site.pools) {
        if (findPool(config.id)) continue;
        poolIndex_.emplace(config.id, static_cast<std::uint32_t>(pools.size()));
        Pool& pool = pools.emplace_back();
        pool.config = config;
        pool.payTable = payTableOf(config);
    }
    for (const TableConfig& config : site.tables) {
        if (const auto known = findTable(config.id)) {
            tables[*known].config = config;
            continue;
        }
        tableIndex_.emplace(config.id, static_cast<std::uint32_t>(tables.size()));
        Table& table = tables.emplace_back();
        table.config = config;
        table.pool = findPool(config.pool).value();
    }
}

std::optional<State::Due> State::nextDue() const
{
    std::optional<Due> next;
    for (std::uint32_t i = 0; i < pools.size(); ++i)
        if (pools[i].nextLookMs != Pool::kNever && (!next || pools[i].nextLookMs < next->atMs))
            next = Due{pools[i].nextLookMs, i};
    return next;
}

std::optional<std::uint32_t> State::find(const Index& index, std::string_view id)
{
    const auto found = index.find(id);
    if (found == index.end()) return std::nullopt;
    return found->second;
}

Site siteOf(const State& state)
{
    Site site;
    for (const Pool& pool : state.pools) site.pools.push_back(pool.config);
    for (const Table& table : state.tables) site.tables.push_back(table.config);
    return site;
}

}  // namespace jackpot::rules
