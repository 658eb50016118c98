#include <doctest/doctest.h>

#include <thread>

#include "meters/published_pools.h"

namespace jackpot::meters {
namespace {

using namespace std::chrono_literals;

Reading reading(std::int64_t cents)
{
    Reading made;
    made.pool = "B7";
    made.open = true;
    made.cents = cents;
    return made;
}

std::uint64_t wide(const Registers& registers, std::size_t at, std::size_t words)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < words; ++i) value = value << 16U | registers.at(at + i);
    return value;
}

TEST_CASE("the map has every form of the amount, the win and the names")
{
    Reading made = reading(5'000'234);
    made.held = true;
    made.lastWin = {1'234'567'890'123, 1'800'000'000, 2, "BJ01"};
    const Registers registers = registersOf(made, 70'001, 1'800'000'001);
    CHECK(registers[0] == 1);
    CHECK(registers[1] == (status::kOpen | status::kHeld));
    CHECK(wide(registers, 2, 4) == 5'000'234);
    CHECK(wide(registers, 6, 4) == 0x5000234);
    CHECK(wide(registers, 10, 2) == 50'002);
    CHECK(wide(registers, 12, 2) == 70'001);
    CHECK(wide(registers, 14, 2) == 1'800'000'001);
    CHECK(wide(registers, 16, 4) == 1'234'567'890'123);
    CHECK(wide(registers, 20, 2) == 1'800'000'000);
    CHECK(registers[22] == 2);
    CHECK(registers[23] == ('B' << 8 | 'J'));
    CHECK(registers[24] == ('0' << 8 | '1'));
    CHECK(registers[25] == 0);
    CHECK(registers[31] == ('B' << 8 | '7'));
    CHECK(registers[32] == 0);
    CHECK(registers[39] == 70'001 % 65'536);
    CHECK(centsIn(registers) == 5'000'234);
}

TEST_CASE("a name of 16 bytes fits, and a longer one is cut off")
{
    Reading made = reading(1);
    made.pool = "0123456789abcdefX";
    const Registers registers = registersOf(made, 1, 1);
    CHECK(registers[38] == ('e' << 8 | 'f'));
    CHECK(registers[39] == 1);
}

TEST_CASE("dollars that do not fit are a fault, and the cents are right")
{
    const Registers registers = registersOf(reading(429'496'729'600), 1, 1);
    CHECK(wide(registers, 10, 2) == 0xffff'ffff);
    CHECK((registers[1] & status::kFault) != 0);
    CHECK(centsIn(registers) == 429'496'729'600);
    CHECK((registersOf(reading(429'496'729'599), 1, 1)[1] & status::kFault) == 0);
}

TEST_CASE("the change counter counts amounts, not states")
{
    PublishedPools board{2};
    const auto now = Clock::now();
    CHECK(board.read(0, now)[1] == status::kFault);  // nothing is known yet
    CHECK(centsIn(board.read(0, now)) == 0);
    board.publish(0, reading(100), 1000, {});
    CHECK(wide(board.read(0, now), 12, 2) == 1);
    CHECK(wide(board.read(0, now), 14, 2) == 1000);
    Reading pending = reading(100);
    pending.pending = true;
    board.publish(0, pending, 1001, {});
    CHECK(wide(board.read(0, now), 12, 2) == 1);
    CHECK(wide(board.read(0, now), 14, 2) == 1000);
    CHECK(board.read(0, now)[1] == (status::kOpen | status::kPending));
    board.publish(0, reading(101), 1002, {});
    CHECK(wide(board.read(0, now), 12, 2) == 2);
    CHECK(wide(board.read(0, now), 14, 2) == 1002);
    CHECK(board.read(1, now)[1] == status::kFault);
}

TEST_CASE("a win is shown for its time; a long turn and a failed journal are shown as faults")
{
    PublishedPools board{1};
    const auto start = Clock::now();
    board.publish(0, reading(100), 1000, start + 30s);
    CHECK(board.read(0, start)[1] == (status::kOpen | status::kWinShown));
    CHECK(board.read(0, start + 30s)[1] == status::kOpen);

    board.beginTurn();
    CHECK(board.read(0, Clock::now())[1] == (status::kOpen | status::kWinShown));
    const std::uint16_t fault = status::kFault | status::kNoJournal | status::kWinShown;
    CHECK(board.read(0, Clock::now() + 121ms)[1] == fault);
    CHECK(PublishedPools::kStaleAfter < 200ms);
    board.endTurn();
    CHECK(board.read(0, Clock::now() + 20s)[1] == (status::kOpen | status::kWinShown));

    board.fail();
    CHECK(board.read(0, start + 30s)[1] == (status::kFault | status::kNoJournal));
    CHECK(centsIn(board.read(0, start)) == 100);
    board.publish(0, reading(200), 1000, {});
    CHECK((board.read(0, start)[1] & status::kFault) != 0);  // for good
}

TEST_CASE("readers never see half of a change")
{
    PublishedPools board{1};
    board.publish(0, reading(0), 0, {});
    constexpr std::int64_t kChanges = 200'000;
    std::atomic<bool> over{false};
    std::atomic<std::int64_t> torn{0};
    std::atomic<std::int64_t> backwards{0};
    std::atomic<std::int64_t> different{0};
    {
        std::vector<std::jthread> readers;
        for (int i = 0; i < 2; ++i)
            readers.emplace_back([&] {
                std::int64_t last = 0;
                do {
                    const Registers registers = board.read(0, Clock::now());
                    const std::int64_t cents = centsIn(registers);
                    std::uint64_t bcd = 0;
                    for (auto rest = static_cast<std::uint64_t>(cents), shift = std::uint64_t{0};
                         rest > 0; rest /= 10, shift += 4)
                        bcd |= rest % 10 << shift;
                    if (wide(registers, 6, 4) != bcd ||
                        wide(registers, 10, 2) != static_cast<std::uint64_t>(cents / 100) ||
                        registers[13] != registers[39])
                        ++torn;
                    if (cents < last) ++backwards;
                    if (cents != last) ++different;
                    last = cents;
                } while (!over);
            });
        for (std::int64_t i = 1; i <= kChanges; ++i) board.publish(0, reading(i * 65'537), i, {});
        over = true;
    }
    CHECK(torn == 0);
    CHECK(backwards == 0);
    CHECK(different > 0);
}

}  // namespace
}  // namespace jackpot::meters
