#include "tools/floorsim/plan.h"

#include <algorithm>
#include <bit>

namespace jackpot::floorsim {
namespace {

// Without a given number of rounds, every kForcedEvery-th round of a table has a forced jackpot.
constexpr std::uint64_t kForcedEvery = 4;
constexpr std::uint32_t kTakesWager = 700;  // per thousand seats
constexpr std::uint32_t kCloses = 500;      // per thousand rounds

// Table number (j modulo the number of tables) gets jackpot j; tiers alternate.
Tier forcedTier(const PlanSettings& settings, const PlanTable& table, std::uint64_t ordinal)
{
    const std::uint64_t all = settings.forcedJackpots;
    const std::uint64_t ours = all / table.tables + (table.index < all % table.tables ? 1 : 0);
    if (ours == 0) return Tier::None;
    const std::uint64_t step =
        settings.rounds ? std::max<std::uint64_t>(*settings.rounds / (ours + 1), 1) : kForcedEvery;
    if (ordinal % step != 0 || ordinal / step == 0 || ordinal / step > ours) return Tier::None;
    const bool isAll = (table.index + ordinal / step) % 2 == 0;
    if (table.game == Game::BlazingSevens)
        return isAll ? Tier::ThreeSevensDiamonds : Tier::ThreeSuitedSevens;
    return isAll ? Tier::RoyalFlush : Tier::StraightFlush;
}

// The nth of the seats, from 0.
int seatAt(SeatSet seats, std::uint32_t n)
{
    for (int seat = 1; seat <= kSeats; ++seat)
        if (has(seats, seat) && n-- == 0) return seat;
    return 0;
}

}  // namespace

std::uint64_t saltOf(std::string_view tableId)
{
    std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a, the same on every machine
    for (const char c : tableId) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    return hash;
}

RoundPlan planOf(const PlanSettings& settings, const PlanTable& table, std::int64_t round,
                 std::uint64_t ordinal, std::size_t openWins, std::optional<SeatSet> standing)
{
    const bool mayWin = openWins < kMostOpenWins;
    Random random{settings.seed * 0x9E3779B97F4A7C15U ^ table.salt ^
                  Random{static_cast<std::uint64_t>(round)}.next()};
    RoundPlan plan;
    for (int seat = 1; seat <= table.seats; ++seat)
        if (random.happens(kTakesWager))
            plan.seats = static_cast<SeatSet>(plan.seats | bitOf(seat));
    const Tier forced = mayWin ? forcedTier(settings, table, ordinal) : Tier::None;
    if (plan.seats == 0 && forced != Tier::None) plan.seats = bitOf(1);
    if (standing) plan.seats = *standing;
    const int winner = plan.seats == 0 ? 0
                                       : seatAt(plan.seats, random.below(static_cast<std::uint32_t>(
                                                                std::popcount(plan.seats))));
    plan.isForced = forced != Tier::None && winner != 0;
    plan.dealt = deal(table.game, plan.seats, random, plan.isForced ? forced : Tier::None, winner);
    const auto isAllowed = [&](const Deal& dealt) {
        return !dealt.hasJackpot() || (mayWin && !settings.noJackpots);
    };
    while (!plan.isForced && !isAllowed(plan.dealt))
        plan.dealt = deal(table.game, plan.seats, random);

    const FaultRates& faults = settings.faults;
    plan.disconnect = random.happens(faults.disconnect);
    plan.resend = random.happens(faults.resend);
    plan.duplicate = random.happens(faults.duplicate);
    plan.lateResult = random.happens(faults.lateResult);
    plan.wrongCount = random.happens(faults.wrongCount);
    plan.latePress = random.happens(faults.latePress);
    plan.closes = random.happens(kCloses);
    if (random.happens(faults.corrections) && winner != 0) {
        plan.misread = deal(table.game, plan.seats, random);
        while (!isAllowed(*plan.misread)) plan.misread = deal(table.game, plan.seats, random);
    }
    // A round with a jackpot is neither voided nor suspended.
    if (winner == 0 || plan.dealt.hasJackpot() || (plan.misread && plan.misread->hasJackpot()))
        return plan;
    if (random.happens(faults.voids)) {
        plan.voids = static_cast<RoundPlan::Void>(1 + random.below(4));
        plan.voidSeat = winner;
        // A wager can also be refused, but only before the result.
        plan.voidGround =
            1 + static_cast<int>(random.below(plan.voids == RoundPlan::Void::OneWager ? 4 : 3));
    } else if (random.happens(faults.suspends)) {
        plan.suspend = static_cast<RoundPlan::Suspend>(1 + random.below(3));
    }
    return plan;
}

}  // namespace jackpot::floorsim
