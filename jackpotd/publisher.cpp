#include "jackpotd/publisher.h"

#include <utility>

#include "config/identifiers.h"

namespace jackpot {
namespace {

using rules::TimeMs;

static_assert(config::kMaxIdBytes <= meters::ReadingId::kMaxBytes);

// More than a configuration may have; each takes less than 400 bytes.
constexpr std::size_t kMaxPools = 128;
constexpr TimeMs kNewsIntervalMs = 500;
// How long displays show a win.
constexpr std::chrono::seconds kWinShown{30};

// Of the newest win that nothing holds, the award that is paid last.
std::optional<meters::LockedWin> lockedWinOf(const rules::State& state, const rules::Pool& pool)
{
    for (auto win = pool.wins.rbegin(); win != pool.wins.rend(); ++win)
        if (!win->due && win->hold == 0 && !win->awards.empty())
            return meters::LockedWin{win->awards.back().amount, state.tables[win->table].config.id};
    return std::nullopt;
}

meters::PoolReading readingOf(const rules::State& state, const rules::Pool& pool, TimeMs now)
{
    meters::PoolReading reading;
    reading.pool = pool.config.id;
    reading.open = !pool.suspended;
    reading.pending = pool.isPending();
    reading.held = pool.isHeld();
    reading.displayed = pool.displayed();
    reading.locked = lockedWinOf(state, pool);
    if (!pool.lastWin) return reading;
    const auto* const row = findRow(pool.payTable, pool.lastWin->tier);
    reading.lastWin = {pool.lastWin->amount, pool.lastWin->atMs / 1000,
                       row && row->pays == rules::Pays::All ? 100 : 10,
                       state.tables[pool.lastWin->table].config.id};
    reading.winShownUntil =
        meters::Clock::now() + kWinShown - std::chrono::milliseconds{now - pool.lastWin->atMs};
    return reading;
}

std::uint32_t flagsOf(const rules::Pool& pool)
{
    return (pool.suspended ? 1U : 0U) | (pool.isPending() ? 2U : 0U) | (pool.isHeld() ? 4U : 0U);
}

}  // namespace

Publisher::Publisher() : readings_{kMaxPools} {}

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
        const auto locked = lockedWinOf(state, pool);
        if (isStatusChanged || cents != last.displayCents || winMs != last.displayWinMs ||
            locked != last.displayLocked) {
            last.displayCents = cents;
            last.displayLocked = locked;
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
    for (const std::uint32_t i : changed_)
        readings_.publish(i, readingOf(state, state.pools[i], now), now / 1000);
    isAnnouncementDue_ = isAnnouncementDue_ || arePoolsChanged_ || !changed_.empty();
    changed_.clear();
    publishMetrics(state);
}

void Publisher::endTurn()
{
    readings_.endTurn();
    if (std::exchange(isAnnouncementDue_, false)) readings_.announce();
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
        metrics.reserve = pool.reserve;
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
    readings_.fail();
}

void Publisher::recover()
{
    trouble_ = "";
    lastPublished_.clear();
    readings_.recover();
}

}  // namespace jackpot
