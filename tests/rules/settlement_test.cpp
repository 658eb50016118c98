#include "rules/settlement.h"

#include <doctest/doctest.h>

#include "rules/explain.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::rules {
namespace {

const std::vector<Hand> kSuitedAtTwoAndFive{{2, {"7S", "7S"}}, {5, {"7S", "7S"}}};

}  // namespace

TEST_CASE("successive tenths are each taken from what the former left (BJ 14.27.2)")
{
    CHECK(successiveTenths(dollars("500000"), 0) == Money{});
    CHECK(successiveTenths(dollars("500000"), 1) == dollars("50000"));
    CHECK(successiveTenths(dollars("500000"), 2) == dollars("95000"));
    CHECK(successiveTenths(dollars("100003.51"), 2) == dollars("19000.6669"));
    // From the ninth take on a tenth has more than eight decimals and is rounded down.
    CHECK(successiveTenths(Money::ofUnits(19), 1) == Money::ofUnits(1));
}

TEST_CASE(
    "an equal share is rounded up to what chips can make, and the house pays the rest (BJ 5.12)")
{
    const Share odd = equalShare(dollars("57000.57"), 2, dollars("5000"), dollars("0.01"));
    CHECK(odd.each == dollars("28500.29"));
    CHECK(odd.fromHouse == dollars("0.01"));

    const Share chips = equalShare(dollars("10001"), 2, dollars("5000"), dollars("25"));
    CHECK(chips.each == dollars("5025"));
    CHECK(chips.fromHouse == dollars("49"));

    const Share guaranteed = equalShare(dollars("7600.6688"), 2, dollars("5000"), dollars("0.01"));
    CHECK(guaranteed.part == dollars("3800.34"));
    CHECK(guaranteed.each == dollars("5000"));
    CHECK(guaranteed.fromHouse == dollars("2399.3312"));
}

TEST_CASE("two suited sevens share two successive tenths, told in words (BJ 14.27.2)")
{
    RulesFixture floor{flatPool("500000"), 1};
    (void)floor.open("T1", 1, {2, 5, 6});
    (void)floor.result("T1", 1, {"7S"}, kSuitedAtTwoAndFive);
    CHECK(floor.confirm("T1", 1).awards.empty());

    const auto settled = floor.wait(kDefaultSettleAfterMs);
    REQUIRE(settled.size() == 1);
    const std::vector<Award>& awards = settled[0].awards;
    REQUIRE(awards.size() == 2);
    CHECK(awards[0].seat == 5);
    CHECK(awards[1].seat == 2);
    CHECK(awards[0].amount == dollars("47500"));
    CHECK(awards[0].rule == "BJ 14.27.2");
    CHECK(arithmeticInWords(awards[0]) ==
          "10 % of $500,000.00 = $50,000.00, then 10 % of $450,000.00 = $45,000.00; $95,000.00 "
          "shared by 2 = "
          "$47,500.00 each");
    CHECK(floor.pool().meter == dollars("405000"));
}

TEST_CASE("arithmetic in words says what was rounded and what was guaranteed")
{
    PoolConfig pool = holdemPool();
    pool.minimum = dollars("30000");
    pool.opening = dollars("40000");
    pool.increment = Rate{};
    pool.payoutUnit = dollars("5");
    RulesFixture floor{pool, 1};
    (void)floor.open("T1", 1, {1, 2, 3});
    (void)floor.result("T1", 1, {"9C", "8C", "7C"}, {{1, {"JC", "TC"}}, {3, {"6C", "5C"}}});
    const Outcome outcome = floor.confirm("T1", 1);
    REQUIRE(outcome.awards.size() == 2);
    CHECK(arithmeticInWords(outcome.awards[0]) ==
          "10 % of $40,000.00 = $4,000.00, then 10 % of $36,000.00 = $3,600.00; $7,600.00 shared "
          "by 2 = $3,800.00 "
          "each; raised to the guarantee of $5,000.00");

    Award many;
    many.arithmetic = {Arithmetic::Kind::Tenth,
                       dollars("1000"),
                       successiveTenths(dollars("1000"), 7),
                       7,
                       dollars("74.53"),
                       dollars("1"),
                       dollars("0.01")};
    many.amount = dollars("74.53");
    CHECK(arithmeticInWords(many) ==
          "10 % of $1,000.00 = $100.00, then 10 % of $900.00 = $90.00, then 10 % of $810.00 = "
          "$81.00, then 10 % of "
          "$729.00 = $72.90, ... then 10 % of $531.441 = $53.1441; $521.7031 shared by 7, up to "
          "the next $0.01 "
          "(BJ 5.12) = $74.53 each");
}

TEST_CASE("a win is settled at its arrival, and what comes in later belongs to the next jackpot")
{
    PoolConfig pool = blazingPool();
    pool.opening = dollars("100000");
    RulesFixture floor{pool, 2};
    floor.claim("T1", 1);                           // +$1
    const Outcome locked = floor.confirm("T1", 1);  // at $100,001
    REQUIRE(locked.locked.size() == 1);
    CHECK(locked.locked[0].amount == dollars("10000.10"));
    CHECK(floor.pool().meter == dollars("90000.90"));
    (void)floor.open("T2", 1, {1, 2, 3});  // +$3
    const auto due = floor.wait(kDefaultSettleAfterMs);
    REQUIRE(due.size() == 1);
    CHECK(due[0].awards[0].amount == dollars("10000.10"));
    CHECK(due[0].postings.empty());
    CHECK(floor.pool().meter == dollars("90003.90"));
}

TEST_CASE("a group ruled after a later one is settled at the place of that one")
{
    RulesFixture floor{flatPool("500000"), 2};
    floor.claim("T1", 1);
    floor.claim("T2", 1);
    (void)floor.confirm("T1", 1);
    (void)floor.give(AdjustPool{"B7", dollars("-100000"), "count", {"a", "b"}});
    (void)floor.confirm("T2", 1);

    const Outcome ruled = floor.give(RuleOnClaims{"B7", {{{"T2", 1}}, {{"T1", 1}}}, {"eye"}});
    REQUIRE(ruled.awards.size() == 2);
    CHECK(ruled.awards[0].amount == dollars("40000"));
    CHECK(ruled.awards[1].amount == dollars("36000"));
    CHECK(floor.pool().meter == dollars("324000"));
}

TEST_CASE("ruled the other way round, the earlier claim takes from the meter of its own moment")
{
    RulesFixture floor{flatPool("500000"), 2};
    floor.claim("T1", 1);
    floor.claim("T2", 1);
    (void)floor.confirm("T1", 1);
    (void)floor.give(AdjustPool{"B7", dollars("-100000"), "count", {"a", "b"}});
    (void)floor.confirm("T2", 1);
    const Outcome ruled = floor.give(RuleOnClaims{"B7", {{{"T1", 1}}, {{"T2", 1}}}, {"eye"}});
    CHECK(ruled.awards[0].amount == dollars("50000"));
    CHECK(ruled.awards[1].amount == dollars("35000"));
    CHECK(floor.pool().meter == dollars("315000"));
}

TEST_CASE(
    "a straight flush is paid before a royal flush, a bonus before both (UTH 15.2.10.4, 15.2.14)")
{
    PoolConfig pool = holdemPool();
    pool.opening = dollars("200000");
    pool.increment = Rate{};
    pool.bonus = TierAmounts{dollars("100"), dollars("25")};
    RulesFixture floor{pool, 1};
    (void)floor.open("T1", 1, {1, 2, 3, 4});
    (void)floor.result("T1", 1, {"QH", "JH", "TH"}, {{1, {"AH", "KH"}}, {4, {"9H", "8H"}}});
    const Outcome outcome = floor.confirm("T1", 1);
    std::vector<std::pair<int, Tier>> paid;
    for (const Award& award : outcome.awards) paid.emplace_back(award.seat, award.tier);
    CHECK(paid ==
          std::vector<std::pair<int, Tier>>{
              {3, Tier::Bonus}, {2, Tier::Bonus}, {4, Tier::StraightFlush}, {1, Tier::RoyalFlush}});
    CHECK(outcome.awards[0].amount == dollars("100"));
    CHECK(outcome.awards[3].amount == dollars("180000"));
}

TEST_CASE("the minimum is restored between the 10 % and the 100 % tier (BJ 14.28)")
{
    PoolConfig pool = holdemPool();
    pool.increment = Rate{};
    pool.minimum = dollars("100000");
    RulesFixture floor{pool, 1};
    (void)floor.open("T1", 1, {1, 4});
    (void)floor.result("T1", 1, {"QH", "JH", "TH"}, {{1, {"AH", "KH"}}, {4, {"9H", "8H"}}});
    const Outcome outcome = floor.confirm("T1", 1);
    CHECK(outcome.awards[0].amount == dollars("10000"));
    CHECK(outcome.awards[1].amount == dollars("100000"));
    CHECK(floor.pool().totals.paidFromPool == dollars("110000"));
}

}  // namespace jackpot::rules
