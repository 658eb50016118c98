#include "rules/cards.h"

#include <doctest/doctest.h>

#include "tools/floorsim/plan.h"

namespace jackpot::floorsim {
namespace {

rules::Card ruleCard(Card card) { return *rules::parseCard(textOf(card)); }

Tier byTheRules(Game game, const Deal& dealt, int seat)
{
    const auto& hand = dealt.hands[static_cast<std::size_t>(seat)];
    const rules::Tier tier =
        game == Game::BlazingSevens
            ? rules::blazingSevensTier(ruleCard(hand[0]), ruleCard(hand[1]),
                                       ruleCard(dealt.board[0]))
            : rules::holdemTier({ruleCard(dealt.board[0]), ruleCard(dealt.board[1]),
                                 ruleCard(dealt.board[2]), ruleCard(hand[0]), ruleCard(hand[1])});
    return tier == rules::Tier::None ? Tier::None : tierNamed(rules::idOf(tier)).value();
}

}  // namespace

TEST_CASE("floorsim's evaluation of hands and the rules' agree")
{
    Random random{20261116};
    constexpr SeatSet kAll = 0b11'1111'1110;
    for (const Game game : {Game::BlazingSevens, Game::UltimateTexasHoldem})
        for (int i = 0; i < 30'000; ++i) {
            const bool isSevens = game == Game::BlazingSevens;
            const Tier stacked = i % 3 == 0 ? Tier::None
                                 : i % 3 == 1
                                     ? (isSevens ? Tier::ThreeSevensDiamonds : Tier::RoyalFlush)
                                     : (isSevens ? Tier::ThreeSuitedSevens : Tier::StraightFlush);
            const Deal dealt = deal(game, kAll, random, stacked, 4);
            if (stacked != Tier::None) REQUIRE(dealt.tiers[4] == stacked);
            for (int seat = 1; seat <= kSeats; ++seat)
                REQUIRE(dealt.tiers[static_cast<std::size_t>(seat)] ==
                        byTheRules(game, dealt, seat));
        }
}

TEST_CASE("no card is dealt more often than the decks have it")
{
    Random random{7};
    constexpr SeatSet kAll = 0b11'1111'1110;
    for (int i = 0; i < 2'000; ++i) {
        const Deal dealt =
            deal(Game::UltimateTexasHoldem, kAll, random, i % 2 ? Tier::RoyalFlush : Tier::None, 9);
        std::array<int, 52> times{};
        for (const Card card : dealt.board) ++times[card];
        for (int seat = 1; seat <= kSeats; ++seat)
            for (const Card card : dealt.hands[static_cast<std::size_t>(seat)]) ++times[card];
        for (const int each : times) REQUIRE(each <= 1);
    }
}

TEST_CASE("a round's plan is deterministic, and the number of forced jackpots is the requested one")
{
    PlanSettings settings;
    settings.rounds = 40;
    settings.forcedJackpots = 17;
    settings.noJackpots = true;
    std::uint64_t forced = 0;
    for (std::uint32_t table = 0; table < 5; ++table) {
        const PlanTable where{.index = table,
                              .tables = 5,
                              .salt = saltOf("BJ0" + std::to_string(table)),
                              .game = table < 3 ? Game::BlazingSevens : Game::UltimateTexasHoldem,
                              .seats = 7};
        for (std::uint64_t i = 1; i <= *settings.rounds; ++i) {
            const auto round = static_cast<std::int64_t>(100 + i);
            const RoundPlan plan = planOf(settings, where, round, i, 0);
            const RoundPlan again = planOf(settings, where, round, i, 0);
            CHECK(plan.seats == again.seats);
            CHECK(plan.dealt.hands == again.dealt.hands);
            CHECK(plan.dealt.hasJackpot() == plan.isForced);
            if (plan.isForced) ++forced;
        }
    }
    CHECK(forced == settings.forcedJackpots);
}

}  // namespace jackpot::floorsim
