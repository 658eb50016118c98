// The published readings. The writer publishes what is durable and signed, and nothing else; every
// other thread reads, and never makes the writer wait.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/change_signal.h"
#include "base/wake_up_timer.h"
#include "meters/reading.h"

namespace jackpot::meters {

// Has a thread that announces a status that changes by time alone: a turn that takes too long, the
// end of a shown win, a reading's deadline. It sleeps while there is no such time to wait for.
class PublishedReadings {
public:
    // If an item waits longer than this to be decided and made durable, amounts may be stale.
    // Displays must show that within 200 ms.
    static constexpr std::chrono::milliseconds kStaleAfter{120};

    // Room for `pools` pools. A pool that is not published has a fault and no amount.
    explicit PublishedReadings(std::size_t pools);
    PublishedReadings(const PublishedReadings&) = delete;
    PublishedReadings& operator=(const PublishedReadings&) = delete;

    // ---- the writer, which never waits here

    // `reading` is durable. Its changes and their time are counted here.
    void publish(std::size_t pool, PoolReading reading, std::int64_t unixSeconds);
    // Announces what was published. Call it once after each commit.
    void announce() { changes_.notify(); }
    // An item waits to be decided, since now or since the first beginTurn(); no item waits.
    void beginTurn();
    void endTurn();
    // The journal can't be written or is not to be trusted; people have resolved that.
    void fail() { setFailed(true); }
    void recover() { setFailed(false); }

    // ---- any thread

    [[nodiscard]] std::size_t size() const { return slots_.size(); }
    // Changes with each publish(); never kNoVersion.
    [[nodiscard]] std::uint32_t version(std::size_t pool) const
    {
        return slots_.at(pool).version.load(std::memory_order_acquire);
    }
    static constexpr std::uint32_t kNoVersion = 1;
    // All of it from one publish(). `version` may receive the version of the reading.
    [[nodiscard]] PoolReading read(std::size_t pool, std::uint32_t* version = nullptr) const;
    [[nodiscard]] PoolStatus statusAt(const PoolReading& reading, Clock::time_point now) const;
    // Notified after each commit, and when a status changes by time or by a failure.
    [[nodiscard]] ChangeSignal& changes() const { return changes_; }

private:
    static constexpr std::size_t kWords = sizeof(PoolReading) / sizeof(std::uint64_t);
    static_assert(kWords * sizeof(std::uint64_t) == sizeof(PoolReading));
    static_assert(std::is_trivially_copyable_v<PoolReading>);
    using Words = std::array<std::uint64_t, kWords>;

    // `version` is odd while the words are being written. Each word is released, so that a reader
    // that finds a new word also finds the version that came before it.
    struct Slot {
        std::atomic<std::uint32_t> version{0};
        std::array<std::atomic<std::uint64_t>, kWords> words{};
        PoolReading last;  // for the writer only
    };

    void setFailed(bool failed);
    [[nodiscard]] bool isStale(Clock::rep turnSince, Clock::time_point now) const;
    [[nodiscard]] Clock::time_point nextDeadline(Clock::time_point now) const;
    void announceTimedChanges(const std::stop_token& stop);

    std::vector<Slot> slots_;
    std::atomic<Clock::rep> turnSince_{0};  // 0: no turn
    std::atomic<bool> failed_{false};
    mutable ChangeSignal changes_;
    WakeUpTimer nextTimedChange_;  // or earlier: for the thread
    std::jthread thread_;
};

}  // namespace jackpot::meters
