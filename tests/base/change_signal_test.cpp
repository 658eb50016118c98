#include "base/change_signal.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

namespace jackpot {
namespace {

using namespace std::chrono_literals;
using Clock = ChangeSignal::Clock;

Clock::duration timeToWait(ChangeSignal& signal, std::uint32_t seen, Clock::duration atMost,
                           const std::stop_token& stop = {})
{
    const auto begin = Clock::now();
    signal.wait(seen, begin + atMost, stop);
    return Clock::now() - begin;
}

TEST_CASE("a change right before the wait ends it at once")
{
    ChangeSignal signal;
    const std::uint32_t seen = signal.count();
    CHECK(signal.notify() == seen + 1);
    CHECK(timeToWait(signal, seen, 5s) < 1s);
    // The control: a thread that reads the count after the change waits for the next one.
    CHECK(timeToWait(signal, signal.count(), 50ms) >= 50ms);
    CHECK(timeToWait(signal, signal.count(), -1s) < 1s);
}

TEST_CASE("every waiting thread is woken, and a stop ends its own wait")
{
    ChangeSignal signal;
    std::atomic<int> woken{0};
    const std::uint32_t seen = signal.count();
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                signal.wait(seen, ChangeSignal::kForever, {});
                ++woken;
            });
        std::this_thread::sleep_for(20ms);
        CHECK(woken == 0);
        signal.notify();
    }
    CHECK(woken == 4);

    const auto begin = Clock::now();
    {
        const std::jthread waiting{[&](const std::stop_token& stop) {
            signal.wait(signal.count(), ChangeSignal::kForever, stop);
        }};
        const std::jthread sleeping{
            [](const std::stop_token& stop) { sleepUntil(Clock::now() + 1h, stop); }};
        std::this_thread::sleep_for(20ms);
    }
    CHECK(Clock::now() - begin < 5s);
    std::stop_source stopped;
    stopped.request_stop();
    CHECK(timeToWait(signal, signal.count(), 5s, stopped.get_token()) < 1s);
}

// Returns how many of the changes that one thread makes ended in a wait that timed out, because
// their notification was lost. `wait` gets the signal and the count that was read before the data.
int lostWakeUps(const auto& wait)
{
    ChangeSignal forth;
    ChangeSignal back;
    std::atomic<int> changes{0};
    std::atomic<int> seenChanges{0};
    int lost = 0;
    constexpr int kChanges = 20'000;
    const std::jthread writer{[&] {
        for (int i = 1; i <= kChanges; ++i) {
            changes.store(i);
            forth.notify();
            for (;;) {
                const std::uint32_t seen = back.count();
                if (seenChanges.load() >= i) break;
                back.wait(seen, ChangeSignal::kForever, {});
            }
        }
    }};
    for (int i = 1; i <= kChanges && lost < 3;) {
        const std::uint32_t seen = forth.count();
        if (changes.load() < i) {
            if (!wait(forth, seen)) ++lost;
            continue;
        }
        seenChanges.store(i++);
        back.notify();
    }
    seenChanges.store(kChanges);
    back.notify();
    return lost;
}

TEST_CASE("no wake-up is lost between a writer and a reader")
{
    constexpr auto kLong = 5s;
    CHECK(lostWakeUps([&](ChangeSignal& signal, std::uint32_t seen) {
              return timeToWait(signal, seen, kLong) < kLong;
          }) == 0);
    // The control: a thread that reads the count only when it begins to wait misses changes.
    constexpr auto kShort = 100ms;
    CHECK(lostWakeUps([&](ChangeSignal& signal, std::uint32_t) {
              std::this_thread::sleep_for(1ms);
              return timeToWait(signal, signal.count(), kShort) < kShort;
          }) > 0);
}

}  // namespace
}  // namespace jackpot
