// What was really paid, and awards that are withheld.
#include <doctest/doctest.h>

#include "rules/awards.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::rules {
namespace {

// Seat 1 has three sevens ($1,000), seat 2 one each ($50).
RulesFixture withFixedAwards()
{
    RulesFixture floor{blazingPool(), 1};
    (void)floor.open("T1", 1, {1, 2, 3});
    (void)floor.result("T1", 1, {"7S"}, {{1, {"7H", "7C"}}, {2, {"7H", "KC"}}});
    return floor;
}

}  // namespace

TEST_CASE("payments are added up, and one may be negative (BJ 16.19, 16.21)")
{
    RulesFixture floor = withFixedAwards();
    const Outcome first = floor.pay("T1", 1, 1, Tier::ThreeSevens, "2500");
    REQUIRE(first.payment);
    CHECK(first.payment->due == dollars("1000"));
    CHECK(first.payment->paid == dollars("2500"));
    const Outcome rectified = floor.pay("T1", 1, 1, Tier::ThreeSevens, "-1500");
    CHECK(rectified.payment->sum == dollars("1000"));
    CHECK(codeOf(floor.pay("T1", 1, 3, Tier::OneEachSevens, "50")) == "no_such_award");
}

TEST_CASE("a payment without an award is recorded, of any round and seat")
{
    RulesFixture floor = withFixedAwards();
    const Outcome paid =
        floor.give(RecordPayment{{"T1", 77, 12, {}}, true, dollars("50"), "", {"s1"}});
    REQUIRE(paid.payment);
    CHECK(paid.payment->due == Money{});
    CHECK(paid.payment->sum == dollars("50"));
}

TEST_CASE("an award that was paid and then withdrawn is due no more, and can be rectified")
{
    RulesFixture floor = withFixedAwards();
    (void)floor.pay("T1", 1, 2, Tier::OneEachSevens, "50");
    const VoidWager alone{"T1", 1, 2, {}, "", {"s1"}};
    CHECK(codeOf(floor.give(alone)) == "needs_two_people");
    CHECK(codeOf(floor.give(VoidWager{"T1", 1, 2, {}, "", {"s1", "s2"}})).empty());
    const Outcome back = floor.pay("T1", 1, 2, Tier::OneEachSevens, "-50");
    REQUIRE(back.payment);
    CHECK(back.payment->due == Money{});
    CHECK(back.payment->sum == Money{});
}

TEST_CASE("an award is withheld and released by two people, and not paid between (UTH 13.19)")
{
    RulesFixture floor = withFixedAwards();
    const AwardRef ref{"T1", 1, 1, Tier::ThreeSevens};
    CHECK(codeOf(floor.give(WithholdAward{ref, "", {"a"}})) == "needs_two_people");
    CHECK(codeOf(floor.give(WithholdAward{ref, "", {"a", "b"}})).empty());
    CHECK(codeOf(floor.give(WithholdAward{ref, "", {"a", "b"}})) == "award_withheld");
    CHECK(codeOf(floor.pay("T1", 1, 1, Tier::ThreeSevens, "1000")) == "award_withheld");
    CHECK(codeOf(floor.give(ReleaseAward{ref, "", {"a", "b"}})).empty());
    CHECK(codeOf(floor.give(ReleaseAward{ref, "", {"a", "b"}})) == "not_withheld");
    CHECK(codeOf(floor.pay("T1", 1, 1, Tier::ThreeSevens, "1000")).empty());
    CHECK(codeOf(floor.give(WithholdAward{ref, "", {"a", "b"}})) == "award_paid");
}

TEST_CASE("a withdrawal ends a withholding")
{
    RulesFixture floor = withFixedAwards();
    (void)floor.give(WithholdAward{{"T1", 1, 1, Tier::ThreeSevens}, "", {"a", "b"}});
    (void)floor.correct("T1", 1, {"7S"}, {});
    (void)floor.correct("T1", 1, {"7S"}, {{1, {"7H", "7C"}}});
    CHECK(codeOf(floor.pay("T1", 1, 1, Tier::ThreeSevens, "1000")).empty());
}

TEST_CASE("the newest 500 fixed awards of a table are known, and not many more")
{
    RulesFixture floor{blazingPool(), 1};
    for (int round = 1; round <= 3'000; ++round) {
        (void)floor.open("T1", round, {1});
        (void)floor.result("T1", round, {"7S"}, {{1, {"7H", "KC"}}});
    }
    CHECK(codeOf(floor.pay("T1", 2'501, 1, Tier::OneEachSevens, "50")).empty());
    CHECK(floor.state.tables[0].awards.size() <= 2 * kAwardsKnown);
    CHECK(codeOf(floor.pay("T1", 1, 1, Tier::OneEachSevens, "50")) == "no_such_award");
}

TEST_CASE("a jackpot is known until it is paid, however many came after it")
{
    RulesFixture floor{holdemPool(), 1};
    for (int round = 1; round <= 2'000; ++round) {
        (void)floor.open("T1", round, {1, 2});
        (void)floor.result("T1", round, {"QS", "JS", "TS"}, {{1, {"AS", "KS"}}});
        (void)floor.confirm("T1", round);
        if (round == 1)
            (void)floor.wait(kFinalAfterMs);
        else
            (void)floor.pay("T1", round, 1, Tier::RoyalFlush, "50000");
    }
    CHECK(floor.state.tables[0].jackpots.size() <= 2 * kAwardsKnown + 2);
    CHECK(codeOf(floor.pay("T1", 1, 1, Tier::RoyalFlush, "50000")).empty());
}

}  // namespace jackpot::rules
