#include "base/change_signal.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace jackpot {
namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* until)
{
    static_assert(sizeof word == sizeof value && std::atomic<std::uint32_t>::is_always_lock_free);
    return ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, until, nullptr,
                     FUTEX_BITSET_MATCH_ANY);
}

}  // namespace

// A thread counts itself in waiting_ before the kernel compares count_ with what it has seen. So
// either it is woken here, or the kernel finds the new count.
std::uint32_t ChangeSignal::notify()
{
    const std::uint32_t count = count_.fetch_add(1) + 1;
    if (waiting_.load() != 0) futex(count_, FUTEX_WAKE, INT_MAX, nullptr);
    return count;
}

void ChangeSignal::wait(std::uint32_t seen, Clock::time_point until, const std::stop_token& stop)
{
    const std::stop_callback wakeUp{stop, [this] { notify(); }};
    // The steady clock is CLOCK_MONOTONIC, which FUTEX_WAIT_BITSET measures its deadline with.
    const auto time = until.time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    const timespec deadline{seconds.count(), std::chrono::nanoseconds{time - seconds}.count()};
    waiting_.fetch_add(1);
    while (count() == seen && Clock::now() < until)
        futex(count_, FUTEX_WAIT_BITSET, seen, until == kForever ? nullptr : &deadline);
    waiting_.fetch_sub(1);
}

void sleepUntil(ChangeSignal::Clock::time_point until, const std::stop_token& stop)
{
    ChangeSignal never;
    never.wait(never.count(), until, stop);
}

}  // namespace jackpot
