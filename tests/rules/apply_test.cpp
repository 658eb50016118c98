#include <doctest/doctest.h>

#include <limits>

#include "rules/invariants.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::rules {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

RulesFixture withDiamonds()
{
    RulesFixture floor{blazingPool(), 2};
    (void)floor.open("T1", 1, {1, 2});
    (void)floor.result("T1", 1, {"7D"}, {{1, {"7D", "7D"}}, {2, {"7C", "KC"}}});
    return floor;
}

}  // namespace

TEST_CASE("a refused command changes nothing")
{
    RulesFixture floor = withDiamonds();
    const State before = floor.state;
    const std::vector<std::pair<Command, std::string>> refused{
        {OpenRound{"T9", 2, {}}, "unknown_table"},
        {OpenRound{"T1", 1, {}}, "round_not_newer"},
        {OpenRound{"T1", 2, {}}, "claim_unconfirmed"},
        {OpenRound{"T1", kLeast, {}}, "out_of_range"},
        {OpenRound{"T1", kMaxRound + 1, {}}, "out_of_range"},
        {OpenRound{"T2", 1, {{8, true, {}, {}}}}, "seat_out_of_range"},
        {OpenRound{"T2", 1, {{kMost, true, {}, {}}}}, "seat_out_of_range"},
        {OpenRound{"T2", 1, {{kLeast, true, {}, {}}}}, "seat_out_of_range"},
        {OpenRound{"T2", 1, {{1, true, {}, {}}, {1, true, {}, {}}}}, "duplicate_seat"},
        {OpenRound{"T2", 1, {{1, false, {}, {}}}}, "no_base_wager"},
        {ReportResult{"T1", 1, {"7D"}, {}}, "result_already_reported"},
        {ReportResult{"T2", 1, {"7D"}, {}}, "no_open_round"},
        {CorrectResult{{"T1", 1, {"7D"}, {{kLeast, {"7D", "7D"}}}}, {"s"}}, "seat_has_no_wager"},
        {CorrectResult{{"T1", 1, {}, {}}, {"s"}}, "wrong_card_count"},
        {CorrectResult{{"T1", 1, {"7D"}, {{1, {"7D", std::string(1'000'000, 'x')}}}}, {"s"}},
         "bad_card"},
        {CorrectResult{{"T1", 1, {"7D"}, {}}, {""}}, "needs_supervisor"},
        {ConfirmJackpot{"T1", kMost, 0}, "wrong_round"},
        {ConfirmJackpot{"T1", 1, -1}, "out_of_range"},
        {ConfirmJackpot{"T2", 1, 0}, "no_open_round"},
        {RuleOnClaims{"B7", {{{"T1", 1}}}, {"eye"}}, "nothing_held"},
        {RuleOnClaims{"B8", {}, {"eye"}}, "unknown_pool"},
        {VoidRound{"T1", 2, {}, {}, "x", {"s"}}, "wrong_round"},
        {VoidRound{"T1", 1, {}, {}, "x", {}}, "needs_supervisor"},
        {VoidRound{"T1", 1, VoidRoundGround::Invalidated, {}, "x", {"s", "s"}}, "needs_two_people"},
        {VoidWager{"T1", 1, 3, {}, "x", {"s"}}, "seat_has_no_wager"},
        {VoidWager{"T1", 1, kMost, {}, "x", {"s"}}, "seat_has_no_wager"},
        {VoidWager{"T1", 1, 1, VoidWagerGround::Refused, "x", {"s"}}, "result_already_reported"},
        {CloseRound{"T1", 1}, "claim_unconfirmed"},
        {SuspendTable{"T1", SuspensionGround::Closed, {}, "x", {"s"}}, "round_open"},
        {ResumeTable{"T1", {}, "x", {"s"}}, "not_suspended"},
        {MarkTableOnline{"T1"}, "not_offline"},
        {ResumePool{"B7", "x", {}}, "not_suspended"},
        {AdjustPool{"B7", dollars("1"), "x", {"a", "a", ""}}, "needs_two_people"},
        {AdjustPool{"B7", dollars("-2.01"), "x", {"a", "b"}}, "below_minimum"},
        {AdjustPool{"B7", dollars("0.001"), "x", {"a", "b"}}, "out_of_range"},
        {AdjustPool{"B7", Money::ofUnits(kMost), "x", {"a", "b"}}, "out_of_range"},
        {AdjustPool{"B7", Money::ofUnits(kLeast), "x", {"a", "b"}}, "out_of_range"},
        {WithholdAward{{"T1", 1, 3, Tier::OneEachSevens}, "x", {"a", "b"}}, "no_such_award"},
        {WithholdAward{{"T1", 1, 2, Tier::OneEachSevens}, "x", {"a"}}, "needs_two_people"},
        {ReleaseAward{{"T1", 1, 2, Tier::OneEachSevens}, "x", {"a", "b"}}, "not_withheld"},
        {RecordPayment{{"T1", 1, 2, Tier::OneEachSevens}, false, dollars("50"), "", {""}},
         "needs_supervisor"},
        {RecordPayment{{"T1", 1, 1, Tier::ThreeSevensDiamonds}, false, dollars("1"), "", {"s"}},
         "no_such_award"},
        {RecordPayment{{"T1", 1, 2, Tier::OneEachSevens}, false, dollars("0.001"), "", {"s"}},
         "out_of_range"},
    };
    for (const auto& [command, code] : refused) {
        CAPTURE(code);
        CAPTURE(kindOf(command));
        const Outcome outcome = floor.give(command);
        CHECK(codeOf(outcome) == code);
        CHECK_FALSE(outcome.refusal->detail.empty());
        CHECK(outcome.refusal->detail.size() < 300);
        CHECK((outcome.awards.empty() && outcome.postings.empty() && outcome.refunds.empty()));
        CHECK(floor.state == before);
    }
    CHECK(codeOf(floor.confirm("T1", 1)).empty());
}

TEST_CASE("a pool's books are closed before they can overflow")
{
    RulesFixture floor{holdemPool(), 1};
    int accepted = 0;
    while (codeOf(floor.give(AdjustPool{"UTH", kMaxAmount, "absurd", {"a", "b"}})).empty())
        ++accepted;
    CHECK(accepted == 2);
    const State before = floor.state;
    CHECK(codeOf(floor.give(AdjustPool{"UTH", kMaxAmount, "absurd", {"a", "b"}})) ==
          "out_of_range");
    CHECK(floor.state == before);

    (void)floor.give(AdjustPool{"UTH", dollars("9999940000"), "absurd", {"a", "b"}});
    int rounds = 0;
    while (codeOf(floor.open("T1", rounds + 1, {1, 2, 3, 4, 5, 6, 7})).empty()) {
        ++rounds;
        (void)floor.result("T1", rounds, {"2C", "7D", "JS"}, {});
    }
    CHECK(rounds > 100);
    CHECK(checkWhole(floor.state).empty());
}

TEST_CASE("the largest jackpot there can be is paid without overflow")
{
    RulesFixture floor{holdemPool(), 1};
    (void)floor.open("T1", 1, {1, 2});
    for (int i = 0; i < 2; ++i)
        (void)floor.give(AdjustPool{"UTH", kMaxAmount, "absurd", {"a", "b"}});
    (void)floor.give(AdjustPool{"UTH", dollars("9999940000"), "absurd", {"a", "b"}});
    (void)floor.result("T1", 1, {"QS", "JS", "TS"}, {{1, {"AS", "KS"}}, {2, {"9S", "8S"}}});
    const Outcome outcome = floor.confirm("T1", 1);
    CHECK(codeOf(outcome).empty());
    CHECK(outcome.awards.size() == 2);
    CHECK(floor.pool().displayed() == dollars("50000"));
}

TEST_CASE("a command before what is due was settled is a fault of the caller")
{
    RulesFixture floor = withDiamonds();
    (void)floor.confirm("T1", 1);
    const TimeMs dueMs = floor.now + kDefaultSettleAfterMs;
    CHECK_THROWS_AS((void)apply(floor.state, OpenRound{"T2", 1, {}}, dueMs), InvariantViolation);
    CHECK(floor.state.nextDue()->atMs == dueMs);
    CHECK(floor.wait(kDefaultSettleAfterMs).size() == 1);
    CHECK(floor.state.nextDue()->atMs == kFinalAfterMs);
    CHECK(floor.wait(kFinalAfterMs).size() == 1);
    CHECK_FALSE(floor.state.nextDue());
}

TEST_CASE("the next round waits for the result, also where nobody qualified")
{
    RulesFixture floor{blazingPool(), 1};
    (void)floor.open("T1", 1, {1});
    CHECK(codeOf(floor.open("T1", 2, {1})) == "no_result");
    (void)floor.result("T1", 1, {"2C"}, {});
    CHECK(codeOf(floor.open("T1", 2, {1})).empty());
    CHECK(codeOf(floor.give(VoidWager{"T1", 2, 1, {}, "", {"s1"}})).empty());
    // Without a wager that stands there is nothing to report.
    CHECK(codeOf(floor.open("T1", 3, {})).empty());
    CHECK(codeOf(floor.open("T1", 4, {1})).empty());
}

TEST_CASE("a closed round is neither corrected nor voided (BJ 16.8, 16.16.1)")
{
    RulesFixture floor{blazingPool(), 1};
    floor.play("T1", 1, {1});
    CHECK(codeOf(floor.give(CloseRound{"T1", 1})).empty());
    CHECK(codeOf(floor.give(CloseRound{"T1", 1})) == "round_closed");
    CHECK(codeOf(floor.correct("T1", 1, {"2C"}, {})) == "round_closed");
    CHECK(codeOf(floor.give(VoidRound{"T1", 1, {}, {}, "", {"s1", "s2"}})) == "round_closed");
}

TEST_CASE("the ground decides who is notified (BJ 16.16.4, UTH 11.11)")
{
    RulesFixture floor{holdemPool(), 1};
    (void)floor.open("T1", 1, {1});
    const Outcome voided =
        floor.give(VoidRound{"T1", 1, VoidRoundGround::MissingOrForeignCard, {}, "", {"s1"}});
    REQUIRE(voided.notices.size() == 1);
    CHECK(recipientsOf(voided.notices[0].kind) == Notify::SurveillanceAndInspector);
    CHECK(voided.notices[0].rule == "UTH 11.7.4");

    const Outcome suspended = floor.give(SuspendTable{"T1", {}, {}, "sensor failure", {"g1"}});
    REQUIRE(suspended.notices.size() == 1);
    CHECK(recipientsOf(suspended.notices[0].kind) == Notify::Inspector);
    CHECK(suspended.notices[0].rule == "UTH 11.11");

    (void)floor.give(ResumeTable{"T1", {}, "repaired", {"g1"}});
    (void)floor.open("T1", 2, {1});
    CHECK(floor.give(VoidRound{"T1", 2, {}, {}, "foreign card", {"s1"}}).notices.empty());
}

TEST_CASE("a table can't end a suspension that the desk made")
{
    RulesFixture floor{blazingPool(), 1};
    const SuspendTable closed{"T1", SuspensionGround::Closed, Origin::Desk, "", {"s1"}};
    CHECK(floor.give(closed).notices.empty());
    CHECK(codeOf(floor.open("T1", 1, {1})) == "table_suspended");
    CHECK(codeOf(floor.give(ResumeTable{"T1", Origin::Table, "", {"s1"}})) == "suspended_by_desk");
    CHECK(codeOf(floor.give(ResumeTable{"T1", Origin::Desk, "", {}})) == "needs_supervisor");
    CHECK(codeOf(floor.give(ResumeTable{"T1", Origin::Desk, "", {"s1"}})).empty());
}

TEST_CASE("shuffling device: all awards are withdrawn; dealing error: they stand (BJ 17.4, 16.8)")
{
    for (const auto ground : {VoidRoundGround::ShufflingDevice, VoidRoundGround::DealingError}) {
        RulesFixture floor{blazingPool(), 1};
        (void)floor.open("T1", 1, {1, 2, 3});
        (void)floor.result("T1", 1, {"7S"}, {{2, {"7H", "KC"}}});
        const Outcome outcome = floor.give(VoidRound{"T1", 1, ground, {}, "", {"s1"}});
        const bool stands = ground == VoidRoundGround::DealingError;
        CHECK(outcome.withdrawn.size() == (stands ? 0 : 1));
        CHECK(outcome.refunds.size() == (stands ? 2 : 3));
        CHECK(floor.pool().meter == dollars(stands ? "50001" : "50000"));
    }
}

TEST_CASE("a forfeited wager is not returned, and its contribution stays (BJ 18.10, UTH 13.10)")
{
    RulesFixture floor{blazingPool(), 1};
    (void)floor.open("T1", 1, {1, 2, 3});
    const Outcome outcome =
        floor.give(VoidRound{"T1", 1, VoidRoundGround::Invalidated, {2, 9, 77}, "", {"s1", "s2"}});
    REQUIRE(outcome.refunds.size() == 2);
    CHECK(outcome.refunds[0].seat == 1);
    CHECK(outcome.refunds[1].seat == 3);
    CHECK(floor.pool().meter == dollars("50001"));
}

TEST_CASE("a wager on another player's box needs a supervisor's name, in UTH only (UTH 15.2.1.1)")
{
    const OpenRound other{"T1", 1, {{1, false, "B", "s1"}}};
    CHECK(codeOf(RulesFixture{holdemPool(), 1}.give(other)).empty());
    CHECK(codeOf(RulesFixture{blazingPool(), 1}.give(other)) == "no_base_wager");
    CHECK(codeOf(RulesFixture{holdemPool(), 1}.give(OpenRound{"T1", 1, {{1, false, "B", ""}}})) ==
          "no_base_wager");
}

TEST_CASE("an award names the card that wagered")
{
    RulesFixture floor{blazingPool(), 1};
    (void)floor.give(OpenRound{"T1", 1, {{1, true, "A", {}}, {2, true, "B", {}}}});
    const Outcome fixed = floor.result("T1", 1, {"7S"}, {{1, {"7S", "7S"}}, {2, {"7C", "KC"}}});
    REQUIRE(fixed.awards.size() == 1);
    CHECK(fixed.awards[0].playerCard == "B");
    CHECK(floor.confirm("T1", 1).locked.at(0).playerCard == "A");
    CHECK(floor.wait(kDefaultSettleAfterMs).at(0).awards.at(0).playerCard == "A");
}

TEST_CASE("claims are reported in each state: claimed, locked, held, due, final, dropped")
{
    RulesFixture floor{blazingPool(), 3};
    const auto states = [](const Outcome& outcome) {
        std::vector<ClaimState> all;
        for (const ClaimChange& claim : outcome.claims) all.push_back(claim.state);
        return all;
    };
    using States = std::vector<ClaimState>;
    for (const char* table : {"T1", "T2", "T3"}) {
        (void)floor.open(table, 1, {1});
        CHECK(states(floor.result(table, 1, {"7S"}, {{1, {"7S", "7S"}}})) ==
              States{ClaimState::Claimed});
    }
    CHECK(states(floor.confirm("T1", 1)) == States{ClaimState::Locked});
    CHECK(states(floor.confirm("T2", 1)) == States{ClaimState::Held, ClaimState::Held});
    CHECK(states(floor.give(VoidWager{"T2", 1, 1, {}, "", {"a", "b"}})) ==
          States{ClaimState::Dropped, ClaimState::Locked});
    CHECK(states(floor.wait(kDefaultSettleAfterMs).at(0)) == States{ClaimState::Due});
    CHECK(states(floor.pay("T1", 1, 1, Tier::ThreeSuitedSevens, "5000")) ==
          States{ClaimState::Final});
    CHECK(states(floor.correct("T3", 1, {"7S"}, {}, {"s1"})) == States{ClaimState::Dropped});
}

}  // namespace jackpot::rules
