#include "meters/display_watchdog.h"

#include <algorithm>

namespace jackpot::meters {

DisplayWatchdog::DisplayWatchdog(std::vector<WatchedMeter> meters, Clock::time_point start)
    : meters_{std::move(meters)}, silent_(meters_.size()), start_{start}
{}

std::vector<DisplayWatchdogChange> DisplayWatchdog::look(
    Clock::time_point now, std::span<const std::optional<Clock::time_point>> lastShown)
{
    std::vector<DisplayWatchdogChange> changes;
    for (std::size_t i = 0; i < meters_.size(); ++i) {
        if (!meters_[i].silentAfter) continue;
        const Clock::time_point last = std::max(lastShown[i].value_or(start_), start_);
        const bool silent = now - last >= *meters_[i].silentAfter;
        if (silent == silent_[i]) continue;
        silent_[i] = silent;
        changes.push_back({i, silent, {}});
    }
    for (DisplayWatchdogChange& change : changes)
        if (change.silent) change.suspend = unseenTablesOf(change.meter);
    return changes;
}

std::vector<std::string> DisplayWatchdog::unseenTablesOf(std::size_t meter) const
{
    std::vector<std::string> unseen;
    for (const std::string& table : meters_[meter].tables) {
        bool seen = false;
        bool suspend = false;
        for (std::size_t i = 0; i < meters_.size(); ++i) {
            if (std::ranges::find(meters_[i].tables, table) == meters_[i].tables.end()) continue;
            seen = seen || !silent_[i];
            suspend = suspend || meters_[i].suspend;
        }
        if (!seen && suspend) unseen.push_back(table);
    }
    return unseen;
}

}  // namespace jackpot::meters
