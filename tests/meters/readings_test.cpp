#include <doctest/doctest.h>

#include <thread>
#include <type_traits>

#include "meters/published_readings.h"
#include "meters/registers.h"
#include "tests/meters/display.h"
#include "tests/support/eventually.h"

namespace jackpot::meters {
namespace {

using namespace std::chrono_literals;
using testing::numberIn;
using testing::readingOf;

constexpr PoolStatus kOpen{.open = true};
constexpr PoolStatus kUnavailable{.fault = true, .journalUnavailable = true};

PoolReading reading(std::int64_t cents) { return readingOf("B7", cents); }

PoolStatus statusOf(const PublishedReadings& readings, Clock::time_point now)
{
    return readings.statusAt(readings.read(0), now);
}

TEST_CASE("the map has every form of the amount, the win and the names")
{
    PoolReading made = reading(5'000'234);
    made.lastWin = {rules::Money::ofCents(1'234'567'890'123), 1'800'000'000, 10, "BJ01"};
    made.changes = 70'001;
    made.changedUnixSeconds = 1'800'000'001;
    const Registers registers = registersOf(made, {.open = true, .held = true});
    CHECK(registers[0] == 1);
    CHECK(registers[1] == (status::kOpen | status::kHeld));
    CHECK(numberIn(registers, 2, 4) == 5'000'234);
    CHECK(numberIn(registers, 6, 4) == 0x5000234);
    CHECK(numberIn(registers, 10, 2) == 50'002);
    CHECK(numberIn(registers, 12, 2) == 70'001);
    CHECK(numberIn(registers, 14, 2) == 1'800'000'001);
    CHECK(numberIn(registers, 16, 4) == 1'234'567'890'123);
    CHECK(numberIn(registers, 20, 2) == 1'800'000'000);
    CHECK(registers[22] == 2);
    CHECK(registers[23] == ('B' << 8 | 'J'));
    CHECK(registers[24] == ('0' << 8 | '1'));
    CHECK(registers[25] == 0);
    CHECK(registers[31] == ('B' << 8 | '7'));
    CHECK(registers[32] == 0);
    CHECK(registers[39] == 70'001 % 65'536);
    made.lastWin->percent = 100;
    CHECK(registersOf(made, {})[22] == 1);
}

TEST_CASE("an id of 16 bytes fits the registers; a longer one is cut, and keeps 32 in the reading")
{
    PoolReading made = reading(1);
    made.pool = "0123456789abcdefX";
    made.changes = 1;
    const Registers registers = registersOf(made, kOpen);
    CHECK(registers[38] == ('e' << 8 | 'f'));
    CHECK(registers[39] == 1);
    CHECK(made.pool.view() == "0123456789abcdefX");
    CHECK(ReadingId{"0123456789abcdef0123456789abcdefX"}.view() ==
          "0123456789abcdef0123456789abcdef");
    CHECK(ReadingId{}.view().empty());
}

TEST_CASE("each status has its bit and its words")
{
    CHECK(statusWordOf(kOpen) == status::kOpen);
    CHECK(statusWordOf({.pending = true}) == status::kPending);
    CHECK(statusWordOf({.held = true}) == status::kHeld);
    CHECK(statusWordOf({.winShown = true}) == status::kWinShown);
    CHECK(statusWordOf(kUnavailable) == (status::kFault | status::kNoJournal));
    CHECK(inWords(kOpen) == "open");
    CHECK(inWords({.open = true, .pending = true, .held = true, .winShown = true}) ==
          "open, jackpot pending, held for surveillance, jackpot won");
    CHECK(inWords(kUnavailable) == "closed, journal unavailable, fault");
}

TEST_CASE("dollars that have no room are a fault, and the cents are right")
{
    const Registers registers = registersOf(reading(429'496'729'600), kOpen);
    CHECK(numberIn(registers, 10, 2) == 0xffff'ffff);
    CHECK((registers[1] & status::kFault) != 0);
    CHECK(numberIn(registers, 2, 4) == 429'496'729'600);
    CHECK((registersOf(reading(429'496'729'599), kOpen)[1] & status::kFault) == 0);
}

TEST_CASE("the change counter counts amounts, not states")
{
    PublishedReadings readings{2};
    const auto now = Clock::now();
    CHECK(statusOf(readings, now) == PoolStatus{.fault = true});  // nothing is known yet
    CHECK(readings.read(0) == PoolReading{});
    readings.publish(0, reading(100), 1000);
    CHECK(readings.read(0).changes == 1);
    CHECK(readings.read(0).changedUnixSeconds == 1000);
    PoolReading pending = reading(100);
    pending.pending = true;
    const std::uint32_t before = readings.version(0);
    readings.publish(0, pending, 1001);
    CHECK(readings.version(0) != before);
    CHECK(readings.read(0).changes == 1);
    CHECK(readings.read(0).changedUnixSeconds == 1000);
    CHECK(statusOf(readings, now) == PoolStatus{.open = true, .pending = true});
    readings.publish(0, reading(101), 1002);
    CHECK(readings.read(0).changes == 2);
    CHECK(readings.read(0).changedUnixSeconds == 1002);
    CHECK(readings.statusAt(readings.read(1), now) == PoolStatus{.fault = true});
}

TEST_CASE("a reading that was read stays as it is when another is published")
{
    PublishedReadings readings{1};
    readings.publish(0, reading(100), 1000);
    std::uint32_t version = PublishedReadings::kNoVersion;
    const PoolReading first = readings.read(0, &version);
    CHECK(version == readings.version(0));
    const PoolReading copy = first;
    PoolReading won = reading(50);
    won.lastWin = {rules::Money::ofCents(50), 1001, 100, "BJ01"};
    readings.publish(0, won, 1001);
    CHECK(first == copy);
    CHECK(version != readings.version(0));
    CHECK(readings.read(0).lastWin == won.lastWin);
}

TEST_CASE("a win is shown until its time, a long turn and a failed journal as faults")
{
    PublishedReadings readings{1};
    const auto start = Clock::now();
    PoolReading won = reading(100);
    won.winShownUntil = start + 30s;
    readings.publish(0, won, 1000);
    const PoolStatus shown{.open = true, .winShown = true};
    CHECK(statusOf(readings, start) == shown);
    CHECK(statusOf(readings, start + 30s) == kOpen);

    readings.beginTurn();
    CHECK(statusOf(readings, Clock::now()) == shown);
    CHECK(statusOf(readings, Clock::now() + 121ms) ==
          PoolStatus{.winShown = true, .fault = true, .journalUnavailable = true});
    CHECK(PublishedReadings::kStaleAfter < 200ms);
    readings.endTurn();
    CHECK(statusOf(readings, Clock::now() + 20s) == shown);

    readings.fail();
    CHECK(statusOf(readings, start + 30s) == kUnavailable);
    CHECK(readings.read(0).displayed == rules::Money::ofCents(100));
    readings.publish(0, reading(200), 1000);
    CHECK(statusOf(readings, start).fault);  // for good
    readings.recover();
    CHECK(statusOf(readings, start) == kOpen);
}

TEST_CASE("a reading shows the fault from its deadline on, and without a deadline never")
{
    PublishedReadings readings{1};
    const auto start = Clock::now();
    readings.publish(0, reading(100), 1000);
    CHECK(statusOf(readings, start + 24h * 365) == kOpen);
    PoolReading limited = reading(100);
    limited.validUntil = start + 5s;
    readings.publish(0, limited, 1000);
    CHECK(statusOf(readings, start + 4999ms) == kOpen);
    CHECK(statusOf(readings, start + 5s) == kUnavailable);
}

TEST_CASE("a status that changes by time alone is announced at that time, and nothing else is")
{
    PublishedReadings readings{1};
    ChangeSignal& changes = readings.changes();
    const auto announcedAfter = [&](std::uint32_t seen) {
        const auto begin = Clock::now();
        changes.wait(seen, begin + 5s, {});
        CHECK(changes.count() == seen + 1);
        return Clock::now() - begin;
    };

    SUBCASE("a turn that takes too long, and its end")
    {
        std::uint32_t seen = changes.count();
        readings.beginTurn();
        const auto took = announcedAfter(seen);
        CHECK(took >= PublishedReadings::kStaleAfter);
        CHECK(took < 200ms);
        CHECK(statusOf(readings, Clock::now()) == kUnavailable);
        seen = changes.count();
        readings.endTurn();
        CHECK(announcedAfter(seen) < 80ms);
    }
    SUBCASE("a second turn right after a stale one")
    {
        std::uint32_t seen = changes.count();
        readings.beginTurn();
        (void)announcedAfter(seen);
        seen = changes.count();
        readings.endTurn();
        (void)announcedAfter(seen);
        seen = changes.count();
        readings.beginTurn();
        CHECK(announcedAfter(seen) < 200ms);
    }
    SUBCASE("the end of a shown win")
    {
        PoolReading won = reading(100);
        won.winShownUntil = Clock::now() + 150ms;
        const std::uint32_t seen = changes.count();
        readings.publish(0, won, 1000);
        CHECK(announcedAfter(seen) >= 140ms);
    }
    SUBCASE("a deadline")
    {
        PoolReading limited = reading(100);
        limited.validUntil = Clock::now() + 150ms;
        const std::uint32_t seen = changes.count();
        readings.publish(0, limited, 1000);
        CHECK(announcedAfter(seen) >= 140ms);
    }
    SUBCASE("control: short turns and a reading without a deadline")
    {
        const std::uint32_t seen = changes.count();
        for (int i = 0; i < 30; ++i) {
            readings.beginTurn();
            readings.publish(0, reading(i), 1000);
            readings.endTurn();
            std::this_thread::sleep_for(10ms);
        }
        CHECK(changes.count() == seen);
    }
}

TEST_CASE("readers never see half of a change")
{
    PublishedReadings readings{1};
    const auto nth = [](std::int64_t i) {
        PoolReading made = reading(i * 65'537);
        made.pool = std::string_view{"0123456789abcdef0123456789abcdef"}.substr(
            0, static_cast<std::size_t>(i % 32 + 1));
        made.lastWin = {made.displayed, i, 10, made.pool.view()};
        return made;
    };
    readings.publish(0, nth(0), 0);
    constexpr std::int64_t kChanges = 200'000;
    std::atomic<bool> over{false};
    std::atomic<std::int64_t> torn{0};
    std::atomic<std::int64_t> backwards{0};
    std::atomic<std::int64_t> different{0};
    {
        std::vector<std::jthread> readers;
        for (int i = 0; i < 3; ++i)
            readers.emplace_back([&] {
                std::int64_t last = 0;
                do {
                    const PoolReading read = readings.read(0);
                    const std::int64_t at = read.changedUnixSeconds;
                    PoolReading whole = nth(at);
                    whole.changes = static_cast<std::uint32_t>(at + 1);
                    whole.changedUnixSeconds = at;
                    if (read != whole) ++torn;
                    if (at < last) ++backwards;
                    if (at != last) ++different;
                    last = at;
                } while (!over);
            });
        for (std::int64_t i = 1; i <= kChanges; ++i) readings.publish(0, nth(i), i);
        over = true;
    }
    CHECK(torn == 0);
    CHECK(backwards == 0);
    CHECK(different > 0);
}

}  // namespace
}  // namespace jackpot::meters
