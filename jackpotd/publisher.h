// Publishes what a commit has made durable: a reading of each pool, news to the tables, counts to
// monitoring.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "jackpotd/replies.h"
#include "jackpotd/writer_metrics.h"
#include "meters/published_readings.h"
#include "rules/state.h"

namespace jackpot {

class Publisher {
public:
    Publisher();

    // ---- in the writer's turn

    // Before the commit: finds the pools that differ from what was published last. Their tables get
    // news of the amount at most every 500 ms, and at once if the pool's status has changed.
    void collectChanges(const rules::State& state, rules::TimeMs now, Replies& replies);
    // After the commit. The threads that wait for readings or records are woken at endTurn(), after
    // the replies.
    void publish(const rules::State& state, rules::TimeMs now);
    void markPoolsChanged() { arePoolsChanged_ = true; }
    // By anything else than wagers and results.
    void markTablesChanged() { areTablesChanged_ = true; }
    // Displays show a fault from here on, and the daemon is not ready. `trouble` is static text.
    void fail(const char* trouble);
    // Ends that, and publishes every pool with the next commit.
    void recover();

    void endTurn();

    // ---- any thread

    // An item waits for the writer; displays show a fault if it waits too long.
    void beginTurn() { readings_.beginTurn(); }
    [[nodiscard]] const meters::PublishedReadings& readings() const { return readings_; }
    // At most a second old.
    [[nodiscard]] std::vector<PoolMetrics> poolMetrics() const;
    // Why nothing is decided, for any reader; empty if all is well.
    [[nodiscard]] std::string_view trouble() const { return trouble_.load(); }

private:
    struct LastPublished {
        std::int64_t displayCents = -1;
        rules::TimeMs displayWinMs = 0;
        std::optional<meters::LockedWin> displayLocked;
        std::int64_t newsCents = -1;
        std::uint32_t newsFlags = 0;
        rules::TimeMs newsMs = 0;
    };

    void publishMetrics(const rules::State& state);

    meters::PublishedReadings readings_;
    std::atomic<const char*> trouble_{""};
    std::vector<LastPublished> lastPublished_;
    std::vector<std::uint32_t> changed_;  // pools to publish with the next commit
    bool isAnnouncementDue_ = false;      // at the end of the turn
    bool arePoolsChanged_ = true;         // since publishMetrics()
    bool areTablesChanged_ = true;
    mutable std::mutex metricsMutex_;
    std::vector<PoolMetrics> poolMetrics_;
};

}  // namespace jackpot
