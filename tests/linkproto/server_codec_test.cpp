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
            std::string(150, 'x')};
}

Claim aClaim(std::int64_t round)
{
    return {round, 3, rules::Tier::ThreeSuitedSevens, rules::ClaimState::Held};
}

}  // namespace

TEST_CASE("a settlement with many awards becomes several frames, each with the receipt")
{
    Settlement settlement{7, 500, {}, {}};
    for (std::int64_t round = 0; round < 60; ++round) settlement.awards.push_back(anAward(round));
    for (std::int64_t round = 0; round < 30; ++round) settlement.claims.push_back(aClaim(round));
    const v2::Receipt receipt = toMessage(Receipt{8, std::string(32, 'r'), std::string(200, 'n')});

    std::vector<std::int64_t> awards;
    std::vector<std::int64_t> claims;
    for (const v2::ToTable& message : toMessages(settlement, receipt)) {
        const v2::Settlement& part = message.settlement();
        CHECK(part.record() == 7);
        CHECK(part.displayed_cents() == 500);
        CHECK(part.receipt().size() == 8);
        CHECK(part.receipt().note().size() == 200);
        CHECK(message.ByteSizeLong() < kMaxFrameBytes);
        for (const v2::Award& award : part.awards()) awards.push_back(award.round());
        for (const v2::Claim& claim : part.claims()) claims.push_back(claim.round());
    }
    REQUIRE(awards.size() == 60);
    REQUIRE(claims.size() == 30);
    CHECK(std::ranges::is_sorted(awards));
    CHECK(std::ranges::is_sorted(claims));
    CHECK(toMessages(Settlement{7, 500, {}, {}}, receipt).empty());
}

TEST_CASE("a decision has the table's part of the outcome, and the newest 64 claims")
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
    decision.details->refunds.push_back({5, 2, rules::Money::ofCents(250)});
    for (std::int64_t round = 0; round < 70; ++round)
        decision.details->claims.push_back(aClaim(round));
    const v2::ToTable message =
        toMessage(RepeatedDecision{std::move(decision), {10, std::string(32, 'r'), "note"}});
    REQUIRE(message.decisions().decisions_size() == 1);
    const v2::Decision& full = message.decisions().decisions(0);
    CHECK(full.again());
    CHECK(full.refusal().code() == "duplicate_seat");
    CHECK(full.refusal().detail() == "seat 3");
    CHECK(full.awards(0).amount_cents() == 1234);
    CHECK(full.awards(0).tier() == "three_suited_sevens");
    CHECK(full.refunds(0).amount_cents() == 250);
    REQUIRE(full.claims_size() == 64);
    CHECK(full.claims(0).round() == 6);
    CHECK(full.claims(63).round() == 69);
    CHECK(full.claims(0).state() == "held");
    CHECK(message.decisions().receipt().size() == 10);
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
