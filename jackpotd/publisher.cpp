#include "jackpotd/publisher.h"

namespace jackpot {
namespace {

using rules::TimeMs;

// More than a configuration may have; each takes 200 bytes.
constexpr std::size_t kMaxPools = 128;
constexpr TimeMs kNewsIntervalMs = 500;
// How long displays show a win.
constexpr std::chrono::seconds kWinShown{30};

meters::Reading readingOf(const rules::State& state, const rules::Pool& pool)
{
    meters::Reading reading{pool.config.id, !pool.suspended,          pool.isPending(),
                            pool.isHeld(),  pool.displayed().cents(), {}};
    if (!pool.lastWin) return reading;
    const auto* const row = findRow(pool.payTable, pool.lastWin->tier);
    reading.lastWin = {pool.lastWin->amount.cents(), pool.lastWin->atMs / 1000,
                       static_cast<std::uint16_t>(row && row->pays == rules::Pays::All ? 1 : 2),
                       state.tables[pool.lastWin->table].config.id};
    return reading;
}

std::uint32_t flagsOf(const rules::Pool& pool)
{
    return (pool.suspended ? 1U : 0U) | (pool.isPending() ? 2U : 0U) | (pool.isHeld() ? 4U : 0U);
}

}  // namespace

Publisher::Publisher() : pools_{kMaxPools} {}

void Publisher::collectChanges(const rules::State& state, TimeMs now, Replies& replies)
{
    lastPublished_.resize(state.pools.size());
    for (std::uint32_t i = 0; i < state.pools.size(); ++i) {
        const rules::Pool& pool = state.pools[i];
        LastPublished& last = lastPublished_[i];
        const std::int64_t cents = pool.displayed().cents();
        const std::uint32_t flags = flagsOf(pool);
        const bool isStatusChanged = flags != last.newsFlags;
        const TimeMs winMs = pool.lastWin ? pool.lastWin->atMs : 0;
        if (isStatusChanged || cents != last.displayCents || winMs != last.displayWinMs) {
            last.displayCents = cents;
            last.displayWinMs = winMs;
            changed_.push_back(i);
        }
        const bool isTooEarly = now - last.newsMs < kNewsIntervalMs;
        if (!isStatusChanged && (cents == last.newsCents || isTooEarly)) continue;
        last.newsCents = cents;
        last.newsFlags = flags;
        last.newsMs = now;
        replies.addPoolNews(i, state);
    }
}

void Publisher::publish(const rules::State& state, TimeMs now)
{
    for (const std::uint32_t i : changed_) {
        const rules::Pool& pool = state.pools[i];
        const auto winShownUntil = pool.lastWin
                                       ? meters::Clock::now() + kWinShown -
                                             std::chrono::milliseconds{now - pool.lastWin->atMs}
                                       : meters::Clock::time_point{};
        pools_.publish(i, readingOf(state, pool), now / 1000, winShownUntil);
    }
    changed_.clear();
    publishMetrics(state);
}

// Never waits for a reader: the next turn tries again.
void Publisher::publishMetrics(const rules::State& state)
{
    if (!arePoolsChanged_) return;
    const std::unique_lock lock{metricsMutex_, std::try_to_lock};
    if (!lock) return;
    poolMetrics_.resize(state.pools.size());
    for (std::size_t i = 0; i < poolMetrics_.size(); ++i) {
        const rules::Pool& pool = state.pools[i];
        PoolMetrics& metrics = poolMetrics_[i];
        metrics.displayed = pool.displayed();
        metrics.reserve = pool.reserve;
        metrics.suspended = pool.suspended;
        metrics.pending = pool.isPending();
        metrics.held = pool.isHeld();
        if (!areTablesChanged_) continue;
        metrics.pool = pool.config.id;
        metrics.tables = metrics.tablesOffline = metrics.tablesSuspended = 0;
    }
    if (areTablesChanged_)
        for (const rules::Table& table : state.tables) {
            PoolMetrics& metrics = poolMetrics_[table.pool];
            ++metrics.tables;
            if (table.offline) ++metrics.tablesOffline;
            if (table.suspended) ++metrics.tablesSuspended;
        }
    arePoolsChanged_ = areTablesChanged_ = false;
}

std::vector<PoolMetrics> Publisher::poolMetrics() const
{
    const std::scoped_lock lock{metricsMutex_};
    return poolMetrics_;
}

void Publisher::fail(const char* trouble)
{
    trouble_ = trouble;
    pools_.fail();
}

void Publisher::recover()
{
    trouble_ = "";
    lastPublished_.clear();
    pools_.recover();
}

}  // namespace jackpot
