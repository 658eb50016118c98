// Lets one thread sleep until a time that any thread may bring forward. Setting the time wakes
// nobody: it costs the setter one system call, and the sleeper wakes when the time has come.
#pragma once

#include <atomic>
#include <chrono>
#include <stop_token>

namespace jackpot {

class WakeUpTimer {
public:
    using Clock = std::chrono::steady_clock;

    WakeUpTimer();
    WakeUpTimer(const WakeUpTimer&) = delete;
    WakeUpTimer& operator=(const WakeUpTimer&) = delete;
    ~WakeUpTimer();

    // Thread-safe. The sleeper wakes at `time`, or at an earlier time that is already set.
    void wakeAt(Clock::time_point time);
    // For the one sleeper. Returns when the time has come or the thread is to stop. Then no time is
    // set, so the sleeper must look at what it waits for before it sleeps again.
    void sleep(const std::stop_token& stop);

private:
    std::atomic<Clock::rep> at_{Clock::time_point::max().time_since_epoch().count()};
    int descriptor_;
};

}  // namespace jackpot
