#include "linkproto/server/server_codec.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "linkproto/frame.h"

namespace jackpot::linkproto {
namespace {

Award anAward(std::int64_t round)
{
    return {round,
            3,
            rules::Tier::ThreeSuitedSevens,
            rules::Money::ofCents(1234),
            "BJ 14.27.2",
            std::string(300, 'x'),
            std::string(64, 'p')};
}

Claim aClaim(std::int64_t round)
{
    return {round, 3, rules::Tier::ThreeSuitedSevens, rules::ClaimState::Held};
}

}  // namespace

TEST_CASE("a settlement with many awards becomes several frames, each with the receipt")
{
    Settlement settlement{7, 500, {}};
    Details& details = settlement.details;
    for (std::int64_t round = 0; round < 60; ++round) {
        details.awards.push_back(anAward(round));
        details.locked.push_back(anAward(round));
    }
    for (std::int64_t round = 0; round < 30; ++round) details.claims.push_back(aClaim(round));
    for (std::int64_t round = 0; round < 25; ++round) details.withdrawn.push_back(anAward(round));
    details.withheld.push_back(anAward(77));
    details.released.push_back(anAward(78));
    details.refunds.push_back({79, 2, rules::Money::ofCents(250)});
    const v2::Receipt receipt = toMessage(Receipt{8, std::string(32, 'r'), std::string(200, 'n')});

    std::vector<std::int64_t> awards;
    std::vector<std::int64_t> claims;
    int withdrawn = 0;
    int others = 0;
    for (const v2::ToTable& message : toMessages(settlement, receipt)) {
        const v2::Settlement& part = message.settlement();
        CHECK(part.record() == 7);
        CHECK(part.displayed_cents() == 500);
        CHECK(part.receipt().size() == 8);
        CHECK(part.receipt().note().size() == 200);
        CHECK(message.ByteSizeLong() < kMaxFrameBytes);
        // What replaces a withdrawn award does not come before its withdrawal.
        withdrawn += part.withdrawn_size();
        if (part.awards_size() > 0) CHECK(withdrawn == 25);
        others += part.withheld_size() + part.released_size() + part.refunds_size();
        for (const v2::Award& award : part.awards()) awards.push_back(award.round());
        for (const v2::Claim& claim : part.claims()) claims.push_back(claim.round());
    }
    REQUIRE(awards.size() == 60);
    REQUIRE(claims.size() == 30);
    CHECK(std::ranges::is_sorted(awards));
    CHECK(std::ranges::is_sorted(claims));
    CHECK(others == 3);
    CHECK(toMessages(Settlement{7, 500, {}}, receipt).empty());
}

TEST_CASE("a decision has the table's part of the outcome, and settlements what is too long for it")
{
    Decision decision{4, 9, 1000, nullptr};
    v2::Decision plain;
    writeDecision(plain, decision);
    CHECK(plain.number() == 4);
    CHECK(plain.record() == 9);
    CHECK(plain.displayed_cents() == 1000);
    CHECK_FALSE(plain.has_refusal());
    CHECK_FALSE(plain.again());

    decision.details = std::make_unique<Details>();
    decision.details->refusal = {rules::RefusalCode::DuplicateSeat, "BJ 5.6", "seat 3"};
    decision.details->awards.push_back(anAward(5));
    decision.details->locked.push_back(anAward(6));
    decision.details->refunds.push_back({5, 2, rules::Money::ofCents(250)});
    for (std::int64_t round = 0; round < 25; ++round)
        decision.details->claims.push_back(aClaim(round));
    const std::vector<v2::ToTable> messages =
        toMessages(RepeatedDecision{std::move(decision), {10, std::string(32, 'r'), "note"}});
    REQUIRE(messages.size() == 3);
    const v2::ToTable& message = messages[0];
    REQUIRE(message.decisions().decisions_size() == 1);
    const v2::Decision& full = message.decisions().decisions(0);
    CHECK(full.again());
    CHECK(full.refusal().code() == "duplicate_seat");
    CHECK(full.refusal().detail() == "seat 3");
    CHECK(full.awards(0).amount_cents() == 1234);
    CHECK(full.awards(0).tier() == "three_suited_sevens");
    CHECK(full.refunds(0).amount_cents() == 250);
    CHECK(full.awards(0).player() == std::string(64, 'p'));
    CHECK(full.locked(0).round() == 6);
    CHECK(full.claims_size() == 10);
    CHECK(full.claims(0).state() == "held");
    CHECK(messages[1].settlement().claims(0).round() == 10);
    CHECK(messages[2].settlement().claims(4).round() == 24);
    CHECK(messages[2].settlement().awards_size() == 0);
    CHECK(messages[2].settlement().record() == 9);
    CHECK(messages[2].settlement().receipt().size() == 10);
    CHECK(message.decisions().receipt().size() == 10);
}

TEST_CASE("grounds are read from their list, and a command without one is malformed")
{
    const auto read = [](const v2::Command& message) {
        return readCommand(message, "BJ01",
                           [](std::string_view card) { return std::string{card}; });
    };
    v2::Command message;
    message.mutable_void_round()->set_round(7);
    CHECK_FALSE(read(message));
    for (const int ground : {-1, 4, 99}) {
        message.mutable_void_round()->set_ground(static_cast<v2::VoidRound::Ground>(ground));
        CHECK_FALSE(read(message));
    }
    message.mutable_void_round()->set_ground(v2::VoidRound::SHUFFLING_DEVICE);
    message.mutable_void_round()->set_by("sue");
    rules::VoidRound voided{"BJ01", 7, rules::VoidRoundGround::ShufflingDevice, {}, "", {"sue"}};
    CHECK(read(message).value() == rules::Command{voided});
    // Without a name, the rules refuse it.
    message.mutable_void_round()->clear_by();
    voided.by.clear();
    CHECK(read(message).value() == rules::Command{voided});

    message.mutable_void_wager()->set_seat(3);
    CHECK_FALSE(read(message));
    message.mutable_void_wager()->set_ground(v2::VoidWager::REFUSED);
    CHECK(read(message).value() ==
          rules::Command{rules::VoidWager{"BJ01", 0, 3, rules::VoidWagerGround::Refused, "", {}}});

    message.mutable_suspend()->set_by("sue");
    CHECK_FALSE(read(message));
    message.mutable_suspend()->set_ground(v2::Suspend::CLOSED);
    CHECK(read(message).value() ==
          rules::Command{rules::SuspendTable{
              "BJ01", rules::SuspensionGround::Closed, rules::Origin::Table, "", {"sue"}}});
    message.mutable_resume()->set_by("sue");
    CHECK(read(message).value() ==
          rules::Command{rules::ResumeTable{"BJ01", rules::Origin::Table, "", {"sue"}}});
    message.mutable_close_round()->set_round(8);
    CHECK(read(message).value() == rules::Command{rules::CloseRound{"BJ01", 8}});
}

TEST_CASE("a table's state has its claims, and awards as locked, due or withheld")
{
    TableState state;
    rules::Table& table = state.table;
    table.suspended = rules::Origin::Desk;
    table.current.startAnew(9, 0);
    table.current.closed = table.current.confirmed = true;
    table.current.seat(2).claims = true;
    table.current.seat(2).tier = rules::Tier::RoyalFlush;
    table.earlier.resize(1);
    table.earlier[0].startAnew(8, 0);
    table.earlier[0].seat(4).claims = true;
    table.earlier[0].seat(4).tier = rules::Tier::StraightFlush;
    state.wins.resize(2);
    state.wins[0].round = 8;
    state.wins[0].due = true;
    state.wins[1].round = 9;
    const auto record = [](std::int64_t round, rules::Tier tier, rules::AwardRecord::State of) {
        rules::AwardRecord award;
        award.round = round;
        award.seat = static_cast<std::int8_t>(round % 9 + 1);
        award.tier = tier;
        award.state = of;
        award.amount = rules::Money::ofCents(round);
        return award;
    };
    using Of = rules::AwardRecord::State;
    table.jackpots = {record(5, rules::Tier::StraightFlush, Of::Due),
                      record(6, rules::Tier::StraightFlush, Of::Due),
                      record(7, rules::Tier::StraightFlush, Of::Withdrawn),
                      record(8, rules::Tier::StraightFlush, Of::Due),
                      record(9, rules::Tier::RoyalFlush, Of::Locked)};
    table.jackpots[0].payments = 1;
    table.jackpots[1].withheld = true;
    table.awards = {record(4, rules::Tier::Bonus, Of::Due), record(8, rules::Tier::Bonus, Of::Due),
                    record(8, rules::Tier::Flush, Of::Due)};

    const v2::TableState full = toMessage(state).state();
    CHECK(full.suspended());
    CHECK(full.suspended_by_desk());
    CHECK(full.closed());
    REQUIRE(full.claims_size() == 2);
    CHECK(full.claims(0).state() == "due");
    CHECK(full.claims(1).state() == "locked");
    REQUIRE(full.locked_size() == 1);
    CHECK(full.locked(0).amount_cents() == 9);
    REQUIRE(full.withheld_size() == 1);
    CHECK(full.withheld(0).amount_cents() == 6);
    REQUIRE(full.due_size() == 2);
    CHECK(full.due(0).tier() == "straight_flush");
    CHECK(full.due(1).tier() == "bonus");

    state.wins[1].hold = 1;
    CHECK(toMessage(state).state().claims(1).state() == "held");
    state.wins.pop_back();
    table.current.confirmed = table.current.closed = false;
    CHECK(toMessage(state).state().claims(0).state() == "claimed");
}

TEST_CASE("the longest state of a table fits into a frame")
{
    TableState state;
    rules::Table& table = state.table;
    table.config.id = std::string(32, 'T');
    state.pool.pool = std::string(32, 'P');
    const std::int64_t round = rules::kMaxRound;
    const auto fill = [](rules::Round& filled, std::int64_t number) {
        filled.startAnew(number, 0);
        for (rules::Seat& seat : filled.seats) {
            seat.wagered = seat.claims = true;
            seat.tier = rules::Tier::ThreeSameColourSevens;
        }
    };
    fill(table.current, round);
    for (std::size_t i = 0; i < rules::kMaxOpenWins; ++i) {
        const std::int64_t number = round - 1 - static_cast<std::int64_t>(i);
        fill(table.earlier.emplace_back(), number);
        state.wins.emplace_back().round = number;
    }
    rules::AwardRecord award;
    award.round = round;
    award.tier = rules::Tier::ThreeSameColourSevens;
    award.amount = rules::Money::ofDollars(10'000'000'000);
    for (const auto of : {rules::AwardRecord::State::Locked, rules::AwardRecord::State::Due}) {
        award.state = of;
        for (const bool withheld : {false, true}) {
            award.withheld = withheld;
            table.jackpots.insert(table.jackpots.end(), 100, award);
        }
    }
    const v2::ToTable message = toMessage(state);
    CHECK(message.state().claims_size() == 81);
    CHECK(message.state().due_size() == 64);
    CHECK(message.state().withheld_size() == 32);
    CHECK(message.ByteSizeLong() + 1024 < kMaxFrameBytes);  // a Welcome has a little more
}

TEST_CASE("a rejection and a goodbye have the reasons of link.proto")
{
    const v2::ToTable rejected =
        toMessage(Rejection{5, RejectionReason::OutOfOrder, 4, "number 4 comes next"});
    CHECK(rejected.rejected().why() == v2::Rejected::OUT_OF_ORDER);
    CHECK(rejected.rejected().expected() == 4);
    const v2::ToTable goodbye = toMessage(Goodbye{GoodbyeReason::Locked, std::string(10'000, 'x')});
    CHECK(goodbye.goodbye().why() == v2::Goodbye::LOCKED);
    CHECK(goodbye.goodbye().detail().size() == kMaxTextBytes);
}

}  // namespace jackpot::linkproto
