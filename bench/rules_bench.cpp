// How many commands a second the rules decide on one core, and what they allocate while they do.
// Figures for docs/benchmarks.md: ./dev bench rules
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "bench/measurement.h"
#include "rules/apply.h"

namespace {

std::atomic<std::int64_t> liveBytes{0};
std::atomic<std::int64_t> allocations{0};

struct Header {
    std::size_t size;
    std::size_t padding;  // keeps what follows aligned to 16
};

}  // namespace

// These operators count allocations, so they call malloc and free.
// NOLINTBEGIN(cppcoreguidelines-no-malloc)
void* operator new(std::size_t size)
{
    auto* header = static_cast<Header*>(std::malloc(sizeof(Header) + size));
    if (!header) throw std::bad_alloc{};
    header->size = size;
    liveBytes += static_cast<std::int64_t>(size);
    ++allocations;
    return header + 1;
}

void operator delete(void* memory) noexcept
{
    if (!memory) return;
    Header* header = static_cast<Header*>(memory) - 1;
    liveBytes -= static_cast<std::int64_t>(header->size);
    std::free(header);
}

void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
// NOLINTEND(cppcoreguidelines-no-malloc)

namespace jackpot::rules {
namespace {

Site siteWith(int tables, Game game)
{
    Site site;
    PoolConfig& pool = site.pools.emplace_back();
    pool.id = "POOL";
    pool.game = game;
    pool.wager = Money::ofDollars(5);
    pool.increment = Rate::ofPartsPerMillion(235'000);
    pool.minimum = Money::ofDollars(50'000);
    for (int i = 0; i < tables; ++i) {
        TableConfig& table = site.tables.emplace_back();
        table.id = "T" + std::to_string(i);
        table.pool = pool.id;
        table.requirePlayerCard = true;
    }
    return site;
}

struct Figures {
    double perSecond = 0;
    double allocationsPerCall = 0;
    std::int64_t grownBytes = 0;
};

template <class Step>
Figures measure(std::int64_t calls, Step&& step)
{
    for (std::int64_t i = 0; i < calls / 10; ++i)
        step(i);  // warm up, so that later growth depends on the history
    const std::int64_t bytesBefore = liveBytes;
    const std::int64_t allocationsBefore = allocations;
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = calls / 10; i < calls + calls / 10; ++i) step(i);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return {static_cast<double>(calls) / took.count(),
            static_cast<double>(allocations - allocationsBefore) / static_cast<double>(calls),
            liveBytes - bytesBefore};
}

void print(const char* what, const Figures& figures)
{
    std::printf("%-52s %12.0f calls/s %6.2f allocations/call %8lld bytes grown\n", what,
                figures.perSecond, figures.allocationsPerCall,
                static_cast<long long>(figures.grownBytes));
}

std::vector<Command> openedRounds(int tables)
{
    std::vector<Command> rounds;
    for (int i = 0; i < tables; ++i) {
        OpenRound open{"T" + std::to_string(i), 0, {}};
        for (int seat = 1; seat <= 7; ++seat)
            open.wagers.push_back(
                {seat, true, "player-" + std::to_string(seat) + "-with-a-long-pseudonym", {}});
        rounds.emplace_back(std::move(open));
    }
    return rounds;
}

// Each table has eight open wins.
void fillWithWins(State& state, int tables)
{
    for (int i = 0; i < tables; ++i)
        for (std::int64_t round = 1; round <= 8; ++round) {
            const std::string table = "T" + std::to_string(i);
            const std::array<Command, 3> win{
                OpenRound{table, round, {{1, true, "card", {}}}},
                ReportResult{table, round, {"9C", "8C", "7C"}, {{1, {"JC", "TC"}}}},
                ConfirmJackpot{table, round, 0}};
            for (const Command& each : win)
                if (apply(state, each, 0).refusal) std::abort();
        }
}

// The wagers of rounds of seven seats with player cards, on tables in turn. Their results, which
// the next round waits for, are not reported but set.
Figures wagerRounds(int tables, Game game, std::int64_t calls, int tablesWithWins = 0)
{
    State state;
    (void)apply(state, ConfigureSite{siteWith(tables + tablesWithWins, game)}, 0);
    fillWithWins(state, tablesWithWins);
    std::vector<Command> rounds = openedRounds(tables);
    const auto first = static_cast<std::size_t>(tablesWithWins);
    for (std::size_t i = 0; i < rounds.size(); ++i)
        std::get<OpenRound>(rounds[i]).table = "T" + std::to_string(first + i);
    return measure(calls, [&](std::int64_t i) {
        const std::size_t at = static_cast<std::size_t>(i) % rounds.size();
        ++std::get<OpenRound>(rounds[at]).round;
        state.tables[first + at].current.resultIn = true;
        if (apply(state, rounds[at], 0).refusal) std::abort();
    });
}

// Rounds of seven seats in which nobody qualifies: wagers and result.
Figures wholeRounds(std::int64_t calls)
{
    State state;
    (void)apply(state, ConfigureSite{siteWith(1, Game::BlazingSevens)}, 0);
    Command open = openedRounds(1).front();
    Command result = ReportResult{"T0", 0, {"2C"}, {}};
    return measure(calls, [&](std::int64_t i) {
        std::get<OpenRound>(open).round = std::get<ReportResult>(result).round = i + 1;
        if (apply(state, open, i).refusal || apply(state, result, i).refusal) std::abort();
    });
}

// A whole round: wagers, a result with a jackpot, the button, the settlement.
Figures jackpotRounds(std::int64_t calls)
{
    State state;
    Site site = siteWith(1, Game::UltimateTexasHoldem);
    site.tables[0].requirePlayerCard = false;
    (void)apply(state, ConfigureSite{site}, 0);
    Command open = OpenRound{"T0", 0, {{1, true, {}, {}}, {2, true, {}, {}}}};
    Command result =
        ReportResult{"T0", 0, {"9C", "8C", "7C"}, {{1, {"JC", "TC"}}, {2, {"6C", "5C"}}}};
    Command confirm = ConfirmJackpot{"T0", 0, 0};
    std::array<Command, 2> pay{
        RecordPayment{{"T0", 0, 1, Tier::StraightFlush}, false, Money::ofDollars(5'000), "", {"s"}},
        RecordPayment{
            {"T0", 0, 2, Tier::StraightFlush}, false, Money::ofDollars(5'000), "", {"s"}}};
    return measure(calls, [&](std::int64_t i) {
        std::get<OpenRound>(open).round = std::get<ReportResult>(result).round =
            std::get<ConfirmJackpot>(confirm).round = i + 1;
        for (Command& each : pay) std::get<RecordPayment>(each).award.round = i + 1;
        for (const Command* each : {&open, &result, &confirm, &pay[0], &pay[1]})
            if (apply(state, *each, i).refusal) std::abort();
    });
}

}  // namespace
}  // namespace jackpot::rules

int main()
{
    using namespace jackpot::rules;
    using jackpot::checkTarget;
    const Figures one = wagerRounds(1, Game::BlazingSevens, 3'000'000);
    print("wager rounds of seven seats, 1 table", one);
    const Figures holdem = wagerRounds(1, Game::UltimateTexasHoldem, 3'000'000);
    print("wager rounds of seven seats, 1 table, UTH", holdem);
    print("wager rounds of seven seats, 2,000 tables",
          wagerRounds(2'000, Game::BlazingSevens, 3'000'000));
    const Figures withWins = wagerRounds(1, Game::UltimateTexasHoldem, 3'000'000, 2'000);
    print("wager rounds, 1 table, UTH, 16,000 open wins", withWins);
    print("rounds of wagers and result, 1 table", wholeRounds(1'000'000));
    print("jackpot rounds of five commands, UTH", jackpotRounds(300'000));

    const bool fast = checkTarget("wager rounds a second on one core", one.perSecond, 1e6);
    const bool steady = checkTarget("part of that with 16,000 open wins",
                                    withWins.perSecond / holdem.perSecond, 0.5);
    const bool flat = checkTarget("bytes allocated that grow with the history",
                                  static_cast<double>(one.grownBytes), 0, false);
    return fast && steady && flat ? EXIT_SUCCESS : EXIT_FAILURE;
}
