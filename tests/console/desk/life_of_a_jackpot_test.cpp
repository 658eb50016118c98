// The life of a jackpot at the desk: locked, held, due, put right until it is paid.
#include <doctest/doctest.h>

#include "tests/console/desk_fixture.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::console {
namespace {

const std::string kTenth = "three_suited_sevens";
const std::string kAll = "three_sevens_diamonds";

std::string payment(int seat, const std::string& tier, const std::string& paid)
{
    return R"({"seat":)" + std::to_string(seat) + R"(,"tier":")" + tier + R"(","paid":")" + paid +
           R"(","how":"chips"})";
}

TEST_CASE("a win is locked at the press, and nobody pays it before it is due")
{
    DeskFixture house;
    house.claim("T1", 1, {2});
    Answer claim = house.get("/api/v1/claims/T1/1");
    CHECK(claim.at("claims/0/state") == "claimed");
    CHECK(claim.at("claims/0/player") == "p-T1-2");
    const std::string before = house.get("/api/v1/pools/B7").at("meter");
    house.confirm("T1", 1);

    claim = house.get("/api/v1/claims/T1/1");
    CHECK(claim.at("claims/0/state") == "locked");
    CHECK(claim.at("awards/0/state") == "locked");
    CHECK(claim.at("awards/0/due") == "0.00000000");
    const Answer pool = house.get("/api/v1/pools/B7");
    CHECK(pool.at("meter") != before);
    CHECK(pool.at("wins/0/state") == "locked");
    CHECK(pool.at("wins/0/due_utc") == "2026-01-01T00:00:10.000Z");
    const Answer refused =
        house.post("/api/v1/claims/T1/1/payments", payment(2, kTenth, "5000.00"), kAnn);
    CHECK(refused.status == 409);
    CHECK(refused.code() == "award_not_due");

    house.wait(10'000);
    claim = house.get("/api/v1/claims/T1/1");
    CHECK(claim.at("claims/0/state") == "due");
    CHECK(claim.at("awards/0/state") == "due");
    CHECK(claim.at("awards/0/due") == claim.at("awards/0/amount"));
    CHECK(house.get("/api/v1/pools/B7").at("wins/0/state") == "due");
}

TEST_CASE("the desk names the reasons of a hold")
{
    DeskFixture house;
    const auto reasons = [&] {
        const Answer shown = house.get("/api/v1/pools/B7/rulings");
        std::string all;
        for (std::size_t i = 0; i < shown.count("holds/0/held_for"); ++i)
            all += shown.at("holds/0/held_for/" + std::to_string(i)) + " ";
        return all;
    };
    house.claim("T1", 1, {1});
    house.claim("T2", 1, {1});
    house.wait(60'000);
    SUBCASE("presses within the window")
    {
        house.confirm("T1", 1);
        house.wait(1000);
        house.confirm("T2", 1);
        CHECK(reasons() == "tie ");
    }
    SUBCASE("a press that arrived late")
    {
        house.confirm("T1", 1);
        house.wait(1000);
        house.confirm("T2", 1, 30'000);
        CHECK(reasons() == "out_of_order ");
    }
    SUBCASE("a press before its round was opened")
    {
        house.confirm("T1", 1, 300'000);
        CHECK(reasons() == "impossible ");
    }
    SUBCASE("another table is offline")
    {
        REQUIRE_FALSE(house.give(rules::MarkTableOffline{"T2"}).refusal);
        house.confirm("T1", 1);
        CHECK(reasons().empty());
        house.wait(10'000);
        CHECK(reasons() == "offline ");
        CHECK(house.get("/api/v1/notices").at("notices/0/text") == "held for a ruling: T1 round 1");
    }
    // A single round is ruled on too.
    const Answer shown = house.get("/api/v1/pools/B7/rulings");
    CHECK(shown.count("holds") == 1);
    CHECK(shown.count("holds/0/previews") >= 1);
}

TEST_CASE("a result is corrected after the button, by two people (BJ 16.8)")
{
    DeskFixture house;
    house.claim("T1", 1, {2, 5});
    house.confirm("T1", 1);
    const std::string corrected =
        R"({"board":["7H"],"hands":[{"seat":2,"cards":["7H","7H"]},{"seat":5,"cards":["7H","7D"]}],"reason":"seat 5 was read wrongly"})";
    const std::string target = "/api/v1/tables/T1/rounds/1/correct";
    const rules::State before = house.state();
    const Answer proposed = house.post(target, corrected, kAnn);
    REQUIRE(proposed.status == 202);
    CHECK(proposed.at("reason") == "seat 5 was read wrongly");
    CHECK(house.state() == before);
    REQUIRE(house.approve(proposed, kBob).status == 200);

    const Answer claim = house.get("/api/v1/claims/T1/1");
    CHECK(claim.at("claims/0/state") == "dropped");
    CHECK(claim.at("claims/1/state") == "locked");
    REQUIRE(claim.count("awards") == 3);
    CHECK(claim.at("awards/0/tier") == "three_same_colour_sevens");
    CHECK(claim.at("awards/0/state") == "due");
    CHECK(claim.at("awards/1/state") == "withdrawn");  // seat 5
    CHECK(claim.at("awards/2/state") == "locked");

    // Not after the round is closed.
    CHECK(house.post("/api/v1/tables/T1/rounds/1/close", R"({"reason":"screen is dark"})", kAnn)
              .status == 200);
    CHECK(house.get("/api/v1/tables/T1").at("round/closed") == "true");
    CHECK(house.get("/api/v1/records?kind=closing_reasoned&who=ann").count("records") == 1);
    CHECK(house.post(target, corrected, kAnn).code() == "round_closed");
    house.verify();
}

TEST_CASE("one person corrects a result before the button, and the reason is in the journal")
{
    DeskFixture house;
    house.claim("T1", 1, {2});
    const std::string body = R"({"board":["7H"],"hands":[],"reason":"seat 2 folded"})";
    CHECK(house.post("/api/v1/tables/T1/rounds/1/correct", body, kAnn).status == 200);
    CHECK(house.get("/api/v1/claims/T1/1").at("claims/0/state") == "dropped");
    CHECK(house.get("/api/v1/records?kind=correction_reasoned&table=T1&round=1").count("records") ==
          1);
}

TEST_CASE("a winner who is found invalid before the payment leaves all to the other (BJ 14.27.1)")
{
    DeskFixture house;
    house.claim("T1", 1, {2, 5}, true);
    house.confirm("T1", 1);
    house.wait(10'000);
    Answer claim = house.get("/api/v1/claims/T1/1");
    const rules::Money half = rules::dollars(claim.at("awards/1/amount"));
    (void)house.give(rules::OpenRound{"T1", 2, {}});

    const std::string target = "/api/v1/tables/T1/rounds/1/wagers/2/void";
    SUBCASE("by two people")
    {
        CHECK(house.post(target, R"({"ground":"invalid_wager"})", kEye).status == 403);
        REQUIRE(house.postByTwo(target, R"({"ground":"invalid_wager"})").status == 200);
        claim = house.get("/api/v1/claims/T1/1");
        REQUIRE(claim.count("awards") == 2);
        CHECK(claim.at("awards/0/seat") == "5");
        CHECK(claim.at("awards/0/state") == "due");
        CHECK(rules::dollars(claim.at("awards/0/amount")) > half);
        CHECK(claim.at("awards/0/earlier/0/amount") == toExact(half));
        CHECK(claim.at("awards/1/state") == "withdrawn");
        CHECK(claim.count("refunds") == 1);
        CHECK(claim.at("refunds/0/seat") == "2");
    }
    SUBCASE("not once it is paid: what is paid is final")
    {
        REQUIRE(house.postByTwo("/api/v1/claims/T1/1/payments", payment(5, kAll, toExact(half)))
                    .status == 200);
        const Answer refused = house.post(target, R"({"ground":"invalid_wager"})", kAnn);
        CHECK(refused.status == 409);
        CHECK(house.get("/api/v1/claims/T1/1").at("awards/1/state") == "due");
    }
    house.verify();
}

TEST_CASE("payments that differ from what is due are notices, until they are put right")
{
    DeskFixture house;
    (void)house.give(rules::OpenRound{"T1", 1, {{1, true, "p-1", {}}, {2, true, "p-2", {}}}});
    // $2,500 with a wager of $5: three of one colour.
    REQUIRE_FALSE(house.give(rules::ReportResult{"T1", 1, {"7H"}, {{1, {"7D", "7H"}}}}).refusal);
    const std::string tier = house.get("/api/v1/claims/T1/1").at("awards/0/tier");
    const std::string amount = house.get("/api/v1/claims/T1/1").at("awards/0/amount");
    const std::string pay = "/api/v1/claims/T1/1/payments";
    const auto open = [&] {
        return house.get("/api/v1/notices?acknowledged=false").count("notices");
    };
    REQUIRE(house.post(pay, payment(1, tier, amount), kAnn).status == 200);
    CHECK(open() == 0);

    SUBCASE("money came back")
    {
        const Answer paid = house.post(pay, payment(1, tier, "-10.00"), kAnn);
        REQUIRE(paid.status == 200);
        CHECK(paid.at("awards/0/difference") == "-10.00000000");
        CHECK(open() == 1);
    }
    SUBCASE("where there is no award")
    {
        Answer paid = house.post(pay, payment(2, "none", "25.00"), kAnn);
        REQUIRE(paid.status == 200);
        CHECK(paid.at("payments_without_award/0/seat") == "2");
        CHECK(paid.at("payments_without_award/0/difference") == "25.00000000");
        CHECK(open() == 1);
        paid = house.post(pay, payment(2, "none", "-25.00"), kAnn);
        CHECK(paid.at("payments_without_award/0/difference") == "0.00000000");
        CHECK(paid.count("payments_without_award/0/payments") == 2);
        CHECK(open() == 1);
    }
    SUBCASE("the award is withdrawn after its payment")
    {
        // A void wager of a paid seat takes two people.
        REQUIRE(house
                    .postByTwo("/api/v1/tables/T1/rounds/1/wagers/1/void",
                               R"({"ground":"prohibited_device"})")
                    .status == 200);
        Answer claim = house.get("/api/v1/claims/T1/1");
        CHECK(claim.at("awards/0/state") == "withdrawn");
        CHECK(claim.at("awards/0/difference") == amount);
        REQUIRE(open() == 1);
        CHECK(house.get("/api/v1/notices").at("notices/0/text").find("overpaid by") !=
              std::string::npos);
        CHECK(house.get("/api/v1/reports/differences.json").count("differences") == 1);
        // It is paid back.
        claim = house.post(pay, payment(1, tier, "-" + amount), kAnn);
        CHECK(claim.at("awards/0/difference") == "0.00000000");
        CHECK(house.get("/api/v1/reports/differences.json").count("differences") == 0);
    }
    house.verify();
}

TEST_CASE("a table is suspended on a ground, and shows who suspended it")
{
    DeskFixture house;
    (void)house.give(rules::OpenRound{"T1", 1, {{1, true, "p-1", {}}}});
    const std::string suspend = "/api/v1/tables/T1/suspend";
    Answer answer = house.post(suspend, R"({"ground":"closed"})", kAnn);
    CHECK(answer.status == 409);
    CHECK(answer.code() == "round_open");
    (void)house.give(rules::ReportResult{"T1", 1, {"9H"}, {}});
    (void)house.give(rules::CloseRound{"T1", 1});
    answer = house.post(suspend, R"({"ground":"tournament","reason":"the spring cup"})", kAnn);
    REQUIRE(answer.status == 200);
    CHECK(answer.at("suspended") == "true");
    CHECK(answer.at("suspension/ground") == "tournament");
    CHECK(answer.at("suspension/from") == "desk");
    CHECK(answer.at("suspension/by/0") == "Ann");
    CHECK(house.get("/api/v1/notices").count("notices") == 0);
    // The table cannot end it, the desk can.
    CHECK(
        house.giveOverLink(rules::ResumeTable{"T1", rules::Origin::Table, "", {"Ann"}}, 1).refusal);
    answer = house.post("/api/v1/tables/T1/resume", R"({"reason":"it is over"})", kAnn);
    CHECK(answer.status == 200);
    CHECK(answer.at("suspension/ground").empty());
}

TEST_CASE("a name that came over the link is the table's word, and no person of the desk")
{
    DeskFixture house;
    const rules::SuspendTable suspend{
        "T1", rules::SuspensionGround::Malfunction, rules::Origin::Table, "dark", {"Ann"}};
    REQUIRE_FALSE(house.giveOverLink(suspend, 1).refusal);
    CHECK(house.get("/api/v1/records?kind=table_suspended").at("records/0/who") ==
          "Ann, as table T1 says");
    CHECK(house.get("/api/v1/tables/T1").at("suspension/by/0") == "Ann, as table T1 says");
    CHECK(house.get("/api/v1/records?who=ann").count("records") == 0);
    // Control: the same name at the desk is found.
    REQUIRE(house.post("/api/v1/tables/T2/suspend", R"({"ground":"closed"})", kAnn).status == 200);
    CHECK(house.get("/api/v1/records?who=ann").count("records") == 1);
}

TEST_CASE("settle_after_ms is not agreed shorter than a lost link takes to be known")
{
    DeskFixture house;
    Controller controller = house.controller();
    controller.leastSettleAfterMs = [](const rules::PoolConfig& pool) {
        return pool.windowMs() + 6000;
    };
    DeskApi desk{house.settings, controller, house.book()};
    const auto propose = [&](const std::string& body) {
        for (const Route& route : desk.routes())
            if (route.pattern == "/api/v1/pools/{pool}/parameters") {
                Request request;
                request.path = {{"pool", "B7"}};
                request.person = kRoot;
                request.body = body;
                return route.handle(request).status;
            }
        return 0;
    };
    CHECK(propose(R"({"settle_after_ms":7999,"reason":"r"})") == 409);
    CHECK(propose(R"({"settle_after_ms":8000,"reason":"r"})") == 202);
    CHECK(propose(R"({"simultaneity_window_ms":5000,"reason":"r"})") == 409);
}

}  // namespace
}  // namespace jackpot::console
