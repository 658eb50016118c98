// Amounts read over Modbus while they change 5,000 times a second: none is torn, none runs
// backwards except at a reset. Arguments: how many reads. Prints what it counted.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <thread>

#include "meters/modbus_server.h"
#include "tests/meters/display.h"

namespace {

using namespace jackpot::meters;
using namespace std::chrono_literals;
using testing::Bytes;
using testing::RawDisplay;
using testing::readingOf;
using testing::readRequest;

constexpr std::int64_t kSeedCents = 5'000'000;
constexpr std::int64_t kStepCents = 65'537;  // changes every register of the amount in time
constexpr std::int64_t kResetAfter = 2'000;  // changes
constexpr std::size_t kAtOnce = 64;
constexpr std::size_t kAnswerBytes = 9 + 2 * kRegisters;

struct Counts {
    std::uint64_t reads = 0;
    std::uint64_t torn = 0;
    std::uint64_t backwards = 0;
    std::uint64_t resets = 0;
    std::uint64_t amounts = 0;  // that differed from the one before
};

std::uint64_t wordsAt(const std::uint8_t* registers, std::size_t at, std::size_t words)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 2 * words; ++i) value = value << 8U | registers[2 * at + i];
    return value;
}

std::uint64_t bcdOf(std::uint64_t value)
{
    std::uint64_t packed = 0;
    for (unsigned shift = 0; value > 0; value /= 10, shift += 4) packed |= value % 10 << shift;
    return packed;
}

// The pool's amount after `change` changes: it falls only at a reset.
std::int64_t amountAfter(std::int64_t change)
{
    return kSeedCents + change % kResetAfter * kStepCents;
}

bool isTorn(const std::uint8_t* block)
{
    const std::uint64_t cents = wordsAt(block, address::kCents, 4);
    const auto change = static_cast<std::int64_t>(wordsAt(block, address::kCounter, 2));
    return static_cast<std::int64_t>(cents) != amountAfter(change - 1) ||
           wordsAt(block, address::kBcd, 4) != bcdOf(cents) ||
           wordsAt(block, address::kDollars, 2) != cents / 100 ||
           wordsAt(block, address::kCounter + 1, 1) != wordsAt(block, address::kCounterLow, 1);
}

// One display that reads the whole block.
void display(std::uint16_t port, std::uint64_t reads, Counts& counts)
{
    const RawDisplay display{port};
    Bytes requests;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
        const Bytes one = readRequest(0, kRegisters, 1);
        requests.insert(requests.end(), one.begin(), one.end());
    }
    std::uint64_t lastChange = 0;
    std::uint64_t lastCents = 0;
    while (counts.reads < reads) {
        display.send(requests);
        const Bytes answers = display.receive(kAtOnce * kAnswerBytes);
        if (answers.size() != kAtOnce * kAnswerBytes) return;
        for (std::size_t i = 0; i < kAtOnce; ++i) {
            const std::uint8_t* const block = answers.data() + i * kAnswerBytes + 9;
            ++counts.reads;
            if (isTorn(block)) {
                ++counts.torn;
                continue;
            }
            const std::uint64_t change = wordsAt(block, address::kCounter, 2);
            const std::uint64_t cents = wordsAt(block, address::kCents, 4);
            if (change != lastChange) ++counts.amounts;
            if (change < lastChange) ++counts.backwards;
            if (cents < lastCents) ++counts.resets;
            lastChange = change;
            lastCents = cents;
        }
    }
}

// The control: one that reads each half with a question of its own does see torn amounts.
Counts displayInHalves(std::uint16_t port, std::uint64_t reads)
{
    Counts counts;
    const RawDisplay display{port};
    constexpr std::uint16_t kHalf = 6;
    for (; counts.reads < reads; ++counts.reads) {
        display.send(readRequest(0, kHalf, 1));
        const Bytes first = display.receive(9 + 2 * kHalf);
        display.send(readRequest(kHalf, kRegisters - kHalf, 1));
        const Bytes second = display.receive(9 + 2 * (kRegisters - kHalf));
        Bytes block{first.begin() + 9, first.end()};
        block.insert(block.end(), second.begin() + 9, second.end());
        if (isTorn(block.data())) ++counts.torn;
    }
    return counts;
}

}  // namespace

int main(int count, char** arguments)
{
    std::uint64_t wanted = 10'000'000;
    if (count > 1) std::from_chars(arguments[1], arguments[1] + std::strlen(arguments[1]), wanted);
    PublishedReadings board{1};
    ServerSettings settings;
    settings.listeners.emplace_back();
    settings.allow.push_back({{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127}, 104});
    board.publish(0, readingOf("B7", kSeedCents), 1);
    auto server = Server::listen(settings, {{"M1", 0, 0, 1, {}}}, board);
    if (!server) return 2;

    std::atomic<bool> over{false};
    std::uint64_t changes = 0;
    const auto start = Clock::now();
    std::jthread pool{[&] {
        while (!over) {
            // As many as are due, so that a late wake-up makes up for what it missed.
            const auto due = static_cast<std::uint64_t>((Clock::now() - start) / 200us);
            for (; changes < due; ++changes) {
                const std::int64_t cents = amountAfter(static_cast<std::int64_t>(changes));
                board.publish(0, readingOf("B7", cents), 1);
            }
            std::this_thread::sleep_for(200us);
        }
    }};
    constexpr std::size_t kDisplays = 4;
    Counts all;
    {
        std::vector<Counts> counts(kDisplays);
        {
            std::vector<std::jthread> displays;
            for (Counts& each : counts)
                displays.emplace_back(
                    [&] { display((*server)->port(), wanted / kDisplays, each); });
        }
        for (const Counts& each : counts) {
            all.reads += each.reads;
            all.torn += each.torn;
            all.backwards += each.backwards;
            all.resets += each.resets;
            all.amounts += each.amounts;
        }
    }
    const auto seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const Counts control = displayInHalves((*server)->port(), 5'000);
    over = true;
    pool.join();
    std::printf(
        "%llu reads during %llu changes in %.1f s, %llu amounts, %llu resets seen, %llu torn, %llu "
        "backwards; in halves: %llu torn of %llu\n",
        static_cast<unsigned long long>(all.reads), static_cast<unsigned long long>(changes),
        seconds, static_cast<unsigned long long>(all.amounts),
        static_cast<unsigned long long>(all.resets), static_cast<unsigned long long>(all.torn),
        static_cast<unsigned long long>(all.backwards),
        static_cast<unsigned long long>(control.torn),
        static_cast<unsigned long long>(control.reads));
    const bool enough = all.reads >= wanted && all.amounts > 1000 && all.resets > 0 &&
                        static_cast<double>(changes) >= 4'000 * seconds;
    return enough && all.torn == 0 && all.backwards == 0 && control.torn > 0 ? 0 : 1;
}
