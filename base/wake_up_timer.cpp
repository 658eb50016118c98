#include "base/wake_up_timer.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace jackpot {

WakeUpTimer::WakeUpTimer() : descriptor_{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)}
{
    if (descriptor_ < 0) throw std::system_error{errno, std::generic_category(), "timerfd_create"};
}

WakeUpTimer::~WakeUpTimer() { ::close(descriptor_); }

void WakeUpTimer::wakeAt(Clock::time_point time)
{
    Clock::rep wanted = time.time_since_epoch().count();
    Clock::rep set = at_.load();
    do {
        if (set <= wanted) return;
    } while (!at_.compare_exchange_weak(set, wanted));
    // Another thread may have set an earlier time in between, and called the kernel first.
    for (;; wanted = set) {
        const std::chrono::nanoseconds since{wanted};
        const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
        // A time of zero would stop the timer.
        const itimerspec at{{}, {seconds.count(), std::max((since - seconds).count(), 1L)}};
        ::timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &at, nullptr);
        set = at_.load();
        if (set >= wanted) return;
    }
}

void WakeUpTimer::sleep(const std::stop_token& stop)
{
    const std::stop_callback wakeUp{stop, [this] { wakeAt(Clock::time_point{}); }};
    std::uint64_t expirations = 0;
    while (::read(descriptor_, &expirations, sizeof expirations) < 0 && errno == EINTR) {
    }
    at_.store(Clock::time_point::max().time_since_epoch().count());
}

}  // namespace jackpot
