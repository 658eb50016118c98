#include <doctest/doctest.h>

#include "meters/display_watchdog.h"

namespace jackpot::meters {
namespace {

using namespace std::chrono_literals;
using Shown = std::vector<std::optional<Clock::time_point>>;

const Clock::time_point kStart = Clock::time_point{} + 1h;

TEST_CASE("a meter that is not read for its time is reported silent once, and back once")
{
    DisplayWatchdog watch{{{"M1", {"T1", "T2"}, 30s, true}, {"M2", {"T3"}, std::nullopt, false}},
                          kStart};
    Shown shown(2);
    CHECK(watch.look(kStart + 29s, shown).empty());
    const auto silent = watch.look(kStart + 30s, shown);
    REQUIRE(silent.size() == 1);
    CHECK(silent[0].meter == 0);
    CHECK(silent[0].silent);
    CHECK(silent[0].suspend == std::vector<std::string>{"T1", "T2"});
    CHECK(watch.look(kStart + 31s, shown).empty());
    CHECK(watch.isSilent(0));
    CHECK_FALSE(watch.isSilent(1));  // it has no silent_after_s

    shown[0] = kStart + 40s;
    const auto back = watch.look(kStart + 40s, shown);
    REQUIRE(back.size() == 1);
    CHECK_FALSE(back[0].silent);
    CHECK(back[0].suspend.empty());
    CHECK(watch.look(kStart + 69s, shown).empty());
    CHECK(watch.look(kStart + 70s, shown).size() == 1);
}

TEST_CASE("reads before the start do not count")
{
    DisplayWatchdog watch{{{"M1", {"T1"}, 5s, false}}, kStart};
    CHECK(watch.look(kStart + 4s, Shown{kStart - 10min}).empty());
    CHECK(watch.look(kStart + 5s, Shown{kStart - 10min}).size() == 1);
}

TEST_CASE("a table is suspended when the last of its meters is silent")
{
    DisplayWatchdog watch{{{"M1", {"T1", "T2"}, 10s, true},
                           {"M2", {"T2", "T3"}, 20s, false},
                           {"M3", {"T3"}, std::nullopt, true}},
                          kStart};
    const auto first = watch.look(kStart + 10s, Shown(3));
    REQUIRE(first.size() == 1);
    CHECK(first[0].suspend == std::vector<std::string>{"T1"});
    // T2 has lost its last one, and the first of them says that it be suspended; M3 is taken to be
    // seen.
    const auto second = watch.look(kStart + 20s, Shown(3));
    REQUIRE(second.size() == 1);
    CHECK(second[0].suspend == std::vector<std::string>{"T2"});
}

TEST_CASE("two silent meters: each table is reported with its own meter")
{
    DisplayWatchdog watch{{{"M1", {"T1"}, 10s, true}, {"M2", {"T1", "T2"}, 10s, true}}, kStart};
    const auto changes = watch.look(kStart + 10s, Shown(2));
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].suspend == std::vector<std::string>{"T1"});
    CHECK(changes[1].suspend == std::vector<std::string>{"T1", "T2"});
}

TEST_CASE("without suspend_when_silent no table is suspended")
{
    DisplayWatchdog watch{{{"M1", {"T1"}, 10s, false}}, kStart};
    const auto changes = watch.look(kStart + 10s, Shown(1));
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].suspend.empty());
}

}  // namespace
}  // namespace jackpot::meters
