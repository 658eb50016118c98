// Wakes the threads that wait for a change: a commit, newly indexed records, or another status of a
// published reading. No wake-up is lost, and a wake-up without a change is allowed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>

namespace jackpot {

// Thread-safe. A thread reads count(), then the data, and passes that count to wait(): a change
// that comes after count() ends the wait at once.
class ChangeSignal {
public:
    using Clock = std::chrono::steady_clock;

    // Returns the new count. Never blocks: an atomic addition, and a system call if a thread waits.
    std::uint32_t notify();
    // The number of notifications so far.
    [[nodiscard]] std::uint32_t count() const { return count_.load(); }
    // Returns when count() is not `seen`, at `until`, or when the thread is to stop.
    void wait(std::uint32_t seen, Clock::time_point until, const std::stop_token& stop);

    static constexpr Clock::time_point kForever = Clock::time_point::max();

private:
    std::atomic<std::uint32_t> count_{0};
    std::atomic<std::uint32_t> waiting_{0};  // threads
};

// Returns at `until`, or when the thread is to stop.
void sleepUntil(ChangeSignal::Clock::time_point until, const std::stop_token& stop);

}  // namespace jackpot
