// The life of a jackpot: claimed, locked, held, due, final.
#include <doctest/doctest.h>

#include "rules/holds.h"
#include "rules/invariants.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::rules {
namespace {

Outcome rule(RulesFixture& floor, std::vector<std::vector<RoundRef>> order)
{
    return floor.give(RuleOnClaims{"B7", std::move(order), {"eye"}});
}

using Holds = std::vector<std::vector<RoundRef>>;
Holds holds(const RulesFixture& floor) { return holdsOf(floor.state, floor.pool()); }

constexpr Tier kAll = Tier::ThreeSevensDiamonds;
constexpr Tier kTenth = Tier::ThreeSuitedSevens;

}  // namespace

TEST_CASE("at its arrival a win takes its money and the meter is reset (BJ 14.28)")
{
    RulesFixture floor{flatPool("500000"), 2};
    floor.claim("T1", 1, "7D");
    const Outcome outcome = floor.confirm("T1", 1);
    CHECK(outcome.awards.empty());
    REQUIRE(outcome.locked.size() == 1);
    CHECK(outcome.locked[0].amount == dollars("500000"));
    CHECK(floor.pool().displayed() == dollars("50000"));
    CHECK(floor.pool().isPending());
    CHECK(codeOf(floor.pay("T1", 1, 1, kAll, "500000")) == "award_not_due");
}

TEST_CASE("presses less than the window apart are held for Surveillance (BJ 14.27.4)")
{
    for (const std::int64_t apart : {1999, 2000}) {
        RulesFixture floor{flatPool("500000"), 2};
        floor.claim("T1", 1);
        floor.claim("T2", 1);
        (void)floor.confirm("T1", 1);
        floor.now += apart;
        const Outcome second = floor.confirm("T2", 1);
        CHECK(second.notices.size() == (apart < 2000 ? 1 : 0));
        CHECK(holds(floor) == (apart < 2000 ? Holds{{{"T1", 1}, {"T2", 1}}} : Holds{}));
    }
}

TEST_CASE("a press that arrives after a later one is held, also long after and in UTH")
{
    RulesFixture floor{holdemPool(), 2};
    for (const char* table : {"T1", "T2"}) {
        (void)floor.open(table, 1, {1});
        (void)floor.result(table, 1, {"QS", "JS", "TS"}, {{1, {"AS", "KS"}}});
    }
    floor.now = 10'000;
    CHECK(floor.confirm("T1", 1).awards.size() == 1);
    floor.now = 3'600'000;
    const Outcome late = floor.confirm("T2", 1, 3'600'000 - 9'999);
    CHECK(late.withdrawn.size() == 1);
    CHECK(late.locked.size() == 2);
    CHECK(holds(floor) == Holds{{{"T1", 1}, {"T2", 1}}});
    // UTH knows the same time only within a round.
    CHECK(codeOf(floor.give(RuleOnClaims{"UTH", {{{"T1", 1}, {"T2", 1}}}, {}})) == "bad_ruling");
    const Outcome ruled = floor.give(RuleOnClaims{"UTH", {{{"T2", 1}}, {{"T1", 1}}}, {}});
    REQUIRE(ruled.awards.size() == 2);
    CHECK(ruled.awards[0].table == 1);
}

TEST_CASE("an impossible press is held alone, and a later press may tie with all of its time")
{
    RulesFixture floor{flatPool("500000"), 2};
    floor.now = 10'000;
    floor.claim("T1", 1);
    floor.claim("T2", 1);
    floor.now = 20'000;
    CHECK(floor.confirm("T1", 1, 10'000).notices.empty());  // at the opening: possible
    (void)floor.give(VoidWager{"T1", 1, 1, {}, "", {"a", "b"}});
    floor.claim("T1", 2);
    floor.now = 30'000;
    CHECK(floor.confirm("T1", 2, 10'001).notices.size() == 1);
    CHECK(holds(floor) == Holds{{{"T1", 2}}});
    // Pressed at 20.001 s: between the opening and the arrival of the impossible one.
    (void)floor.confirm("T2", 1, 9'999);
    CHECK(holds(floor) == Holds{{{"T1", 2}, {"T2", 1}}});
    // A void leaves it alone in its hold, and it still needs a ruling.
    (void)floor.give(VoidWager{"T2", 1, 1, {}, "", {"a", "b"}});
    CHECK(holds(floor) == Holds{{{"T1", 2}}});
    CHECK(rule(floor, {{{"T1", 2}}}).awards.size() == 1);
}

TEST_CASE("an offline table whose round may still win holds one that would be due")
{
    RulesFixture floor{flatPool("500000"), 3};
    (void)floor.open("T2", 1, {1});
    (void)floor.give(MarkTableOffline{"T2"});
    (void)floor.give(MarkTableOffline{"T3"});
    floor.claim("T1", 1);
    (void)floor.confirm("T1", 1);
    const auto look = floor.wait(kDefaultSettleAfterMs);
    REQUIRE(look.size() == 1);
    REQUIRE(look[0].notices.size() == 1);
    CHECK(look[0].notices[0].kind == NoticeKind::Held);
    // It stays held, whatever the table does.
    (void)floor.give(MarkTableOnline{"T2"});
    (void)floor.result("T2", 1, {"2C"}, {});
    CHECK(floor.wait(kFinalAfterMs).empty());
    CHECK(rule(floor, {{{"T1", 1}}}).awards.size() == 1);
}

TEST_CASE("a hold takes in the group of a ruling, and a win that is due is withdrawn")
{
    RulesFixture floor{flatPool("500000"), 4};
    for (const char* table : {"T1", "T2", "T3", "T4"}) floor.claim(table, 1);
    floor.now = 1'000;
    (void)floor.confirm("T1", 1);
    floor.now = 2'500;
    (void)floor.confirm("T2", 1);
    CHECK(rule(floor, {{{"T1", 1}, {"T2", 1}}}).awards.size() == 2);
    floor.now = 60'000;
    (void)floor.confirm("T4", 1);
    // 4.1 s: a tie with T2 (2.5 s), not with T1 (1 s); and before T4.
    const Outcome late = floor.confirm("T3", 1, 60'000 - 4'100);
    CHECK(late.withdrawn.size() == 2);
    CHECK(holds(floor) == Holds{{{"T1", 1}, {"T2", 1}, {"T4", 1}, {"T3", 1}}});
}

TEST_CASE("a place that a ruling gave stays when the win that arrived there is void")
{
    RulesFixture floor{flatPool("500000"), 3};
    floor.claim("T1", 1);
    floor.claim("T2", 1);
    floor.claim("T3", 1);
    (void)floor.confirm("T1", 1);
    floor.now += 1'000;
    (void)floor.give(AdjustPool{"B7", dollars("-100000"), "count", {"a", "b"}});
    (void)floor.confirm("T2", 1);
    CHECK(rule(floor, {{{"T1", 1}, {"T2", 1}}}).awards.at(0).amount == dollars("47500"));
    // T2 keeps the place before the adjustment.
    const Outcome voided = floor.give(VoidWager{"T1", 1, 1, {}, "", {"a", "b"}});
    REQUIRE(voided.awards.size() == 1);
    CHECK(voided.awards[0].amount == dollars("50000"));
    CHECK(floor.pool().meter == dollars("350000"));
}

TEST_CASE("a win goes back to its own arrival, before what is final at that place")
{
    RulesFixture floor{flatPool("500000"), 4};
    for (const char* table : {"T1", "T2", "T3"}) floor.claim(table, 1);
    (void)floor.open("T4", 1, {1});
    (void)floor.result("T4", 1, {"7S"}, {{1, {"7S", "7S"}}});
    floor.now = 1'000;
    (void)floor.confirm("T1", 1);
    floor.now = 2'000;
    (void)floor.confirm("T2", 1);
    floor.now = 3'000;
    (void)floor.confirm("T3", 1);
    // T1 is moved to T3's place, after it.
    const Outcome first = rule(floor, {{{"T2", 1}}, {{"T3", 1}}, {{"T1", 1}}});
    REQUIRE(first.awards.size() == 3);
    CHECK(first.awards[2].amount == dollars("40500"));
    (void)floor.pay("T1", 1, 1, kTenth, "40500");
    // T4 pressed with T3 only: T3 is moved to T4's place, then T1's payment stands at its own.
    floor.now = 60'000;
    (void)floor.confirm("T4", 1, 60'000 - 4'500);
    CHECK(holds(floor) == Holds{{{"T3", 1}, {"T4", 1}}});
    const Outcome moved = rule(floor, {{{"T4", 1}}, {{"T3", 1}}});
    REQUIRE(moved.awards.size() == 2);
    CHECK(moved.awards[0].amount == dollars("40950"));  // 500,000 - 50,000 - 40,500 = 409,500
    CHECK(moved.awards[1].amount == dollars("36855"));
    CHECK(checkWhole(floor.state).empty());
}

TEST_CASE("a win that is due is final by a payment, and nothing can touch it any more")
{
    RulesFixture floor{flatPool("500000"), 2};
    floor.claim("T1", 1, "7D", {1, 2});
    (void)floor.confirm("T1", 1);
    (void)floor.wait(kDefaultSettleAfterMs);
    CHECK(floor.pay("T1", 1, 2, kAll, "1").claims.size() == 2);
    CHECK(codeOf(floor.give(VoidWager{"T1", 1, 1, {}, "", {"a", "b"}})) == "award_paid");
    CHECK(codeOf(floor.correct("T1", 1, {"7D"}, {})) == "award_paid");
    CHECK(floor.pool().wins.empty());
    CHECK(floor.pool().places.empty());
}

TEST_CASE("a win that is due is final 24 hours after its arrival, not earlier")
{
    for (const TimeMs more : {-1, 0}) {
        RulesFixture floor{flatPool("500000"), 1};
        floor.claim("T1", 1, "7D", {1, 2});
        (void)floor.confirm("T1", 1);
        (void)floor.wait(kDefaultSettleAfterMs);
        (void)floor.wait(kFinalAfterMs - kDefaultSettleAfterMs + more);
        CHECK(codeOf(floor.give(VoidWager{"T1", 1, 1, {}, "", {"a", "b"}})) ==
              (more < 0 ? "" : "award_paid"));
    }
}

TEST_CASE("a payment while the win was held again makes it final with the ruling")
{
    RulesFixture floor{flatPool("500000"), 2};
    floor.claim("T1", 1, "7D");
    floor.claim("T2", 1, "7D");
    (void)floor.confirm("T1", 1);
    (void)floor.wait(kDefaultSettleAfterMs);
    (void)floor.confirm("T2", 1, kDefaultSettleAfterMs);
    CHECK(codeOf(floor.pay("T2", 1, 1, kAll, "1")) == "award_not_due");
    CHECK(floor.pay("T1", 1, 1, kAll, "500000").claims.empty());
    const Outcome ruled = rule(floor, {{{"T1", 1}, {"T2", 1}}});
    CHECK(ruled.awards.size() == 2);
    CHECK(floor.pool().wins.empty());
}

TEST_CASE("the press of a final win is remembered for less than 24 hours, for a notice")
{
    for (const TimeMs more : {-1, 0}) {
        RulesFixture floor{flatPool("500000"), 2};
        floor.claim("T1", 1);
        floor.claim("T2", 1);
        (void)floor.confirm("T1", 1);
        (void)floor.wait(kDefaultSettleAfterMs);
        (void)floor.pay("T1", 1, 1, kTenth, "50000");
        (void)floor.wait(kFinalAfterMs - kDefaultSettleAfterMs + more);
        const Outcome late = floor.confirm("T2", 1, floor.now);
        CHECK(late.notices.size() == (more < 0 ? 1 : 0));
        if (more < 0) CHECK(late.notices[0].kind == NoticeKind::LatePress);
        CHECK(holds(floor).empty());
    }
}

TEST_CASE("resets that come out smaller go to the reserve, larger ones are paid by it first")
{
    RulesFixture floor{flatPool("60000"), 2};
    floor.claim("T1", 1, "7D");
    floor.claim("T2", 1, "7D");
    (void)floor.confirm("T1", 1);
    floor.now += 2'000;
    (void)floor.confirm("T2", 1);
    CHECK(floor.pool().totals.seeded == dollars("160000"));
    (void)floor.give(VoidWager{"T1", 1, 1, {}, "", {"a", "b"}});
    // T2 has all of 60,000 now; one reset of 50,000 was not needed.
    CHECK(floor.pool().wins.at(0).awards.at(0).amount == dollars("60000"));
    CHECK(floor.pool().reserve == dollars("50000"));
    CHECK(floor.pool().totals.fromReserve == dollars("-50000"));
    floor.claim("T1", 2, "7D");
    floor.now += 2'000;
    (void)floor.confirm("T1", 2);
    CHECK(floor.pool().reserve == Money{});
    CHECK(floor.pool().totals.fromReserve == Money{});
}

TEST_CASE("a table with eight open wins opens no further round")
{
    RulesFixture floor{flatPool("500000"), 1};
    for (int round = 1; round <= 8; ++round) {
        floor.claim("T1", round);
        (void)floor.confirm("T1", round);
    }
    CHECK(codeOf(floor.open("T1", 9, {1})) == "too_many_open_wins");
    (void)floor.wait(kDefaultSettleAfterMs);
    (void)floor.pay("T1", 4, 1, kTenth, "1");
    CHECK(codeOf(floor.open("T1", 9, {1})).empty());
}

TEST_CASE("a corrected round without a claim is no win, and is confirmed again if it claims again")
{
    RulesFixture floor{flatPool("500000"), 2};
    floor.claim("T1", 1, "7D");
    floor.claim("T2", 1, "7D");
    (void)floor.confirm("T1", 1);
    (void)floor.confirm("T2", 1);
    CHECK(codeOf(floor.correct("T2", 1, {"7D"}, {}, {"s1"})) == "needs_two_people");
    (void)floor.correct("T2", 1, {"7D"}, {});
    CHECK(holds(floor).empty());
    CHECK(codeOf(floor.confirm("T2", 1)) == "nothing_to_confirm");
    (void)floor.correct("T2", 1, {"7D"}, {{1, {"7D", "7D"}}});
    CHECK(codeOf(floor.give(CloseRound{"T2", 1})) == "claim_unconfirmed");
    floor.now += 2'000;
    CHECK(floor.confirm("T2", 1).locked.at(0).amount == dollars("50000"));
}

TEST_CASE("two pools settle by themselves")
{
    Site site = siteOf(flatPool("500000"), 1);
    PoolConfig other = flatPool("60000");
    other.id = "C7";
    site.pools.push_back(other);
    site.tables.push_back(linkedTable("U1", "C7"));
    RulesFixture floor{site};
    floor.claim("T1", 1, "7D");
    floor.claim("U1", 1, "7D");
    (void)floor.confirm("T1", 1);
    (void)floor.confirm("U1", 1);
    CHECK(holds(floor).empty());
    CHECK(floor.wait(kDefaultSettleAfterMs).size() == 2);
}

}  // namespace jackpot::rules
