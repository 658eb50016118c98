// Which meters nobody sees. No meter, no jackpot: who cannot see the amount should not wager for
// it. Pure: time comes with the call.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "meters/reading.h"

namespace jackpot::meters {

struct WatchedMeter {
    std::string id;
    std::vector<std::string> tables;
    std::optional<std::chrono::seconds> silentAfter;  // unset: taken to be seen
    bool suspend = false;
};

struct DisplayWatchdogChange {
    std::size_t meter = 0;
    bool silent = false;               // else it is back
    std::vector<std::string> suspend;  // tables that no meter shows their jackpot to any more
};

class DisplayWatchdog {
public:
    // Every meter has its time from `start` on.
    DisplayWatchdog(std::vector<WatchedMeter> meters, Clock::time_point start);

    // What has changed since the last look; `lastShown` of each meter is when it was last read by
    // its display or written to it.
    std::vector<DisplayWatchdogChange> look(
        Clock::time_point now, std::span<const std::optional<Clock::time_point>> lastShown);

    [[nodiscard]] const std::vector<WatchedMeter>& meters() const { return meters_; }
    [[nodiscard]] bool isSilent(std::size_t meter) const { return silent_[meter]; }

private:
    [[nodiscard]] std::vector<std::string> unseenTablesOf(std::size_t meter) const;

    std::vector<WatchedMeter> meters_;
    std::vector<bool> silent_;
    Clock::time_point start_;
};

}  // namespace jackpot::meters
