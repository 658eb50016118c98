#include "base/wake_up_timer.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

namespace jackpot {
namespace {

using namespace std::chrono_literals;
using Clock = WakeUpTimer::Clock;

TEST_CASE("the sleeper wakes at the earliest time that was set, not before")
{
    WakeUpTimer timer;
    const auto begin = Clock::now();
    timer.wakeAt(begin + 60ms);
    timer.wakeAt(begin + 10s);
    timer.sleep({});
    CHECK(Clock::now() - begin >= 60ms);
    CHECK(Clock::now() - begin < 5s);
    // The later time is no longer set.
    timer.wakeAt(begin + 150ms);
    timer.sleep({});
    CHECK(Clock::now() - begin >= 150ms);
    CHECK(Clock::now() - begin < 5s);
}

TEST_CASE("a time in the past wakes at once, and so does a time that is set during the sleep")
{
    WakeUpTimer timer;
    timer.wakeAt(Clock::now() - 1s);
    timer.sleep({});
    timer.wakeAt(Clock::now() + 1h);
    const std::jthread other{[&] {
        std::this_thread::sleep_for(50ms);
        timer.wakeAt(Clock::now());
    }};
    const auto begin = Clock::now();
    timer.sleep({});
    CHECK(Clock::now() - begin < 5s);
}

TEST_CASE("a thread that is to stop does not sleep on")
{
    WakeUpTimer timer;
    std::jthread sleeper{[&](const std::stop_token& stop) {
        while (!stop.stop_requested()) timer.sleep(stop);
    }};
    std::this_thread::sleep_for(20ms);
    const auto begin = Clock::now();
    sleeper.request_stop();
    sleeper.join();
    CHECK(Clock::now() - begin < 5s);
}

TEST_CASE("of the times that several threads set at once the earliest counts")
{
    for (int round = 0; round < 200; ++round) {
        WakeUpTimer timer;
        const auto begin = Clock::now();
        {
            std::vector<std::jthread> setters;
            for (int i = 0; i < 3; ++i)
                setters.emplace_back([&, i] {
                    for (int step = 20; step > 0; --step)
                        timer.wakeAt(begin + (i == 1 && step == 1 ? 1ms : 1s * (step + i)));
                });
        }
        timer.sleep({});
        CHECK(Clock::now() - begin < 900ms);
    }
}

}  // namespace
}  // namespace jackpot
