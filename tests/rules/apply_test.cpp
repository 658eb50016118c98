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
        {OpenRound{"T1", kLeast, {}}, "round_not_newer"},
        {OpenRound{"T2", 1, {{8, true, {}, {}}}}, "seat_out_of_range"},
        {OpenRound{"T2", 1, {{kMost, true, {}, {}}}}, "seat_out_of_range"},
        {OpenRound{"T2", 1, {{kLeast, true, {}, {}}}}, "seat_out_of_range"},
        {OpenRound{"T2", 1, {{1, true, {}, {}}, {1, true, {}, {}}}}, "duplicate_seat"},
        {OpenRound{"T2", 1, {{1, false, {}, {}}}}, "no_base_wager"},
        {ReportResult{"T1", 1, {"7D"}, {}}, "result_already_reported"},
        {ReportResult{"T2", 1, {"7D"}, {}}, "no_open_round"},
        {CorrectResult{{"T1", 1, {"7D"}, {{kLeast, {"7D", "7D"}}}}, "s"}, "seat_has_no_wager"},
        {CorrectResult{{"T1", 1, {}, {}}, "s"}, "wrong_card_count"},
        {CorrectResult{{"T1", 1, {"7D"}, {{1, {"7D", std::string(1'000'000, 'x')}}}}, "s"},
         "bad_card"},
        {CorrectResult{{"T1", 1, {"7D"}, {}}, ""}, "needs_supervisor"},
        {ConfirmJackpot{"T1", kMost, 0}, "wrong_round"},
        {ConfirmJackpot{"T1", 1, -1}, "out_of_range"},
        {ConfirmJackpot{"T2", 1, 0}, "no_open_round"},
        {RuleOnClaims{"B7", {{{"T1", 1}}}, "eye"}, "nothing_held"},
        {RuleOnClaims{"B8", {}, "eye"}, "unknown_pool"},
        {VoidRound{"T1", 2, "x", {}}, "wrong_round"},
        {VoidWager{"T1", 1, 3, "x", {}}, "seat_has_no_wager"},
        {VoidWager{"T1", 1, kMost, "x", {}}, "seat_has_no_wager"},
        {ResumeTable{"T1", "x", {}}, "not_suspended"},
        {MarkTableOnline{"T1"}, "not_offline"},
        {ResumePool{"B7", "x", {}}, "not_suspended"},
        {AdjustPool{"B7", dollars("1"), "x", {"a", "a", ""}}, "needs_two_people"},
        {AdjustPool{"B7", dollars("1"), "", {"a", "b"}}, "needs_reason"},
        {AdjustPool{"B7", Money::ofUnits(kMost), "x", {"a", "b"}}, "out_of_range"},
        {AdjustPool{"B7", Money::ofUnits(kLeast), "x", {"a", "b"}}, "out_of_range"},
        {WithholdAward{{"T1", 1, 3, Tier::OneEachSevens}, "x", {"a", "b"}}, "no_such_award"},
        {WithholdAward{{"T1", 1, 2, Tier::OneEachSevens}, "x", {"a"}}, "needs_two_people"},
        {RecordPayment{{"T1", 1, 2, Tier::OneEachSevens}, dollars("50"), "chips", ""},
         "needs_supervisor"},
        {RecordPayment{{"T1", 1, 2, Tier::OneEachSevens}, dollars("-1"), "chips", "s"},
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
    while (codeOf(floor.open("T1", rounds + 1, {1, 2, 3, 4, 5, 6, 7})).empty()) ++rounds;
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
    CHECK_THROWS_AS((void)apply(floor.state, OpenRound{"T2", 1, {}}, floor.now + kDefaultWindowMs),
                    InvariantViolation);
    CHECK(floor.state.nextDue()->atMs == floor.now + kDefaultWindowMs);
    CHECK(floor.wait(kDefaultWindowMs).size() == 1);
    CHECK_FALSE(floor.state.nextDue());
}

TEST_CASE(
    "a malfunction notifies an inspector, a foreign card Surveillance too (BJ 16.16.4, UTH 11.11)")
{
    RulesFixture floor{holdemPool(), 1};
    (void)floor.open("T1", 1, {1});
    const Outcome voided = floor.give(VoidRound{"T1", 1, "Foreign card in the flop", "s1"});
    REQUIRE(voided.notices.size() == 1);
    CHECK(voided.notices[0].whom == Notify::SurveillanceAndInspector);
    CHECK(voided.notices[0].rule == "UTH 11.7.4");

    const Outcome suspended = floor.give(SuspendTable{"T1", "sensor failure", "g1"});
    REQUIRE(suspended.notices.size() == 1);
    CHECK(suspended.notices[0].whom == Notify::Inspector);
    CHECK(suspended.notices[0].rule == "UTH 11.11");

    (void)floor.give(ResumeTable{"T1", "repaired", "g1"});
    (void)floor.open("T1", 2, {1});
    CHECK(floor.give(VoidRound{"T1", 2, "misdeal", {}}).notices.empty());
}

TEST_CASE("what was paid is recorded against what was due, once (BJ 16.19)")
{
    RulesFixture floor = withDiamonds();
    (void)floor.confirm("T1", 1);
    (void)floor.wait(kDefaultWindowMs);

    const AwardRef jackpot{"T1", 1, 1, Tier::ThreeSevensDiamonds};
    const Outcome paid = floor.give(RecordPayment{jackpot, dollars("49000"), "cheque", "s1"});
    REQUIRE(paid.payment);
    CHECK(paid.payment->due == dollars("50002"));
    CHECK(paid.payment->paid == dollars("49000"));
    CHECK(codeOf(floor.give(RecordPayment{jackpot, dollars("1002"), "cheque", "s1"})) ==
          "no_such_award");

    const AwardRef fixed{"T1", 1, 2, Tier::OneEachSevens};
    CHECK(codeOf(floor.give(RecordPayment{fixed, dollars("50"), "chips", "s1"})).empty());
    CHECK(codeOf(floor.give(RecordPayment{fixed, dollars("50"), "chips", "s1"})) == "award_paid");
}

TEST_CASE("an award is withheld by two people and then not paid (UTH 13.19)")
{
    RulesFixture floor = withDiamonds();
    (void)floor.confirm("T1", 1);
    (void)floor.wait(kDefaultWindowMs);
    (void)floor.open("T1", 2, {1});
    const AwardRef jackpot{"T1", 1, 1, Tier::ThreeSevensDiamonds};
    CHECK(codeOf(floor.give(WithholdAward{jackpot, "employee", {"a", "b"}})).empty());
    CHECK(codeOf(floor.give(RecordPayment{jackpot, dollars("50002"), "cheque", "s1"})) ==
          "award_withheld");
    CHECK(codeOf(floor.give(WithholdAward{jackpot, "employee", {"a", "b"}})) == "award_withheld");
}

TEST_CASE("claims are reported in each state: claimed, pending, held, settled, dropped")
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
    CHECK(states(floor.confirm("T1", 1)) == States{ClaimState::Pending});
    CHECK(states(floor.confirm("T2", 1)) == States{ClaimState::Held, ClaimState::Held});
    CHECK(states(floor.give(VoidWager{"T2", 1, 1, "card of another", {}})) ==
          States{ClaimState::Dropped, ClaimState::Pending});
    CHECK(states(floor.wait(kDefaultWindowMs).at(0)) == States{ClaimState::Settled});
    CHECK(states(floor.give(CorrectResult{{"T3", 1, {"7S"}, {}}, "s1"})) ==
          States{ClaimState::Dropped});
}

TEST_CASE("an earlier round that waits is let go with its last claim")
{
    RulesFixture floor{blazingPool(), 2};
    for (const char* table : {"T1", "T2"}) {
        (void)floor.open(table, 1, {1});
        (void)floor.result(table, 1, {"7S"}, {{1, {"7S", "7S"}}});
        (void)floor.confirm(table, 1);
        (void)floor.open(table, 2, {1});
    }
    CHECK(floor.state.tables[0].waiting.size() == 1);
    (void)floor.give(RuleOnClaims{"B7", {{{"T1", 1}, {"T2", 1}}}, "eye"});
    CHECK(floor.state.tables[0].waiting.empty());
    CHECK(floor.state.tables[1].waiting.empty());
    CHECK(codeOf(floor.give(VoidRound{"T1", 1, "late", {}})) == "wrong_round");
}

}  // namespace jackpot::rules
