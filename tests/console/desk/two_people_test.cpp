// Commands that need two people.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "console/people/person_name.h"
#include "console/search/proposal.h"
#include "rules/apply.h"
#include "tests/console/desk_fixture.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::console {
namespace {

const std::string kAdjust = R"({"amount":"125.50","reason":"meter was read wrongly"})";

std::string approvalOf(const Answer& proposal)
{
    return R"({"sha256":")" + proposal.at("sha256") + "\"}";
}

std::string pathOf(const Answer& proposal, const std::string& what)
{
    return "/api/v1/proposals/" + proposal.at("proposal") + "/" + what;
}

std::size_t countOf(DeskFixture& house, const std::string& kind)
{
    return house.get("/api/v1/records?kind=" + kind).count("records");
}

// A jackpot that is due, of about $50,000 at T1, round 1, seat 2.
void bigWin(DeskFixture& house)
{
    house.claim("T1", 1, {2}, true);
    house.confirm("T1", 1);
    house.wait(10'000);
    REQUIRE(house.get("/api/v1/claims/T1/1").at("claims/0/state") == "due");
}

const std::string kBigPayment =
    R"({"seat":2,"tier":"three_sevens_diamonds","paid":"50001.00","how":"cheque 17"})";

TEST_CASE("names of people are compared like account names")
{
    CHECK(samePerson("Ann", " aNN"));
    CHECK(samePerson("Ann Baker", "annbaker"));
    CHECK(
        samePerson("Ann\xC2\xA0"
                   "Baker",
                   "annbaker"));  // a no-break space
    CHECK_FALSE(samePerson("Ann", "Anna"));
    CHECK_FALSE(samePerson("Zo\xC3\xAB", "Zoe"));
    CHECK(samePerson("Zo\xC3\xAB", "zo\xC3\xAB"));
}

TEST_CASE("a large award is paid by a supervisor and a second person")
{
    DeskFixture house;
    bigWin(house);
    const Answer proposed = house.post("/api/v1/claims/T1/1/payments", kBigPayment, kAnn);
    REQUIRE(proposed.status == 202);
    CHECK(proposed.at("state") == "open");
    CHECK(proposed.at("by") == "Ann");
    CHECK(proposed.at("sha256") == proposedHash(proposed.at("proposed")));
    CHECK(house.get("/api/v1/claims/T1/1").at("claims/0/state") == "due");
    const rules::State before = house.state();

    SUBCASE("the second person approves it by the hash of the proposal")
    {
        const Answer done = house.post(pathOf(proposed, "approve"), approvalOf(proposed), kBob);
        REQUIRE(done.status == 200);
        CHECK(done.at("state") == "done");
        CHECK(done.at("closed_by") == "bob");
        const Answer claim = house.get("/api/v1/claims/T1/1");
        CHECK(claim.at("claims/0/state") == "final");
        CHECK(claim.at("awards/0/payments/0/by/0") == "Ann");
        CHECK(claim.at("awards/0/payments/0/by/1") == "bob");
        CHECK(claim.at("awards/0/payments/0/how") == "cheque 17");
        // Both people find the record.
        for (const char* who : {"ann", "BOB"})
            CHECK(house.get(std::string{"/api/v1/records?kind=payment_recorded&who="} + who)
                      .count("records") == 1);
        CHECK(house.post(pathOf(proposed, "approve"), approvalOf(proposed), kBob).code() ==
              "not_open");
        house.verify();
    }
    SUBCASE("one person cannot act as both, however the name is written")
    {
        for (const char* name : {"Ann", "ann", "ANN ", " a n n"}) {
            const Answer refused = house.post(pathOf(proposed, "approve"), approvalOf(proposed),
                                              {name, Role::Administrator});
            CHECK(refused.status == 403);
            CHECK(refused.code() == "same_person");
        }
        CHECK(house.state() == before);
        CHECK(countOf(house, "approval_refused") == 4);
        // Control: another person can.
        CHECK(house.post(pathOf(proposed, "approve"), approvalOf(proposed), kRoot).status == 200);
    }
    SUBCASE("the hash of another proposal is no approval")
    {
        std::string other = proposed.at("sha256");
        other[0] = other[0] == '0' ? '1' : '0';
        const Answer refused =
            house.post(pathOf(proposed, "approve"), R"({"sha256":")" + other + "\"}", kBob);
        CHECK(refused.status == 409);
        CHECK(refused.code() == "not_what_was_proposed");
        CHECK(house.state() == before);
    }
    SUBCASE("a person of another role cannot approve")
    {
        for (const Person& person : {kEye, kAudrey, kIvy})
            CHECK(house.post(pathOf(proposed, "approve"), approvalOf(proposed), person).status ==
                  403);
        CHECK(house.state() == before);
    }
    SUBCASE("the limit counts what is due and what is paid")
    {
        house.claim("T2", 1, {4});
        house.confirm("T2", 1);
        house.wait(10'000);
        const auto pay = [&](const std::string& paid) {
            return house
                .post("/api/v1/claims/T2/1/payments",
                      R"({"seat":4,"tier":"three_suited_sevens","paid":")" + paid +
                          R"(","how":"chips"})",
                      kAnn)
                .status;
        };
        CHECK(pay("10000.00") == 202);
        CHECK(pay("-10000.00") == 202);
        CHECK(pay("9999.99") == 200);
        // A large award that is underpaid also needs two people.
        CHECK(house
                  .post("/api/v1/claims/T1/1/payments",
                        R"({"seat":2,"tier":"three_sevens_diamonds","paid":"1.00","how":"chips"})",
                        kAnn)
                  .status == 202);
    }
    SUBCASE("a proposal that the rules now refuse is not carried out")
    {
        const Answer again = house.post(
            "/api/v1/claims/T1/1/withhold",
            R"({"seat":2,"tier":"three_sevens_diamonds","reason":"under inquiry"})", kBob);
        REQUIRE(again.status == 202);
        CHECK(house.post(pathOf(proposed, "approve"), approvalOf(proposed), kBob).status == 200);
        const Answer refused = house.post(pathOf(again, "approve"), approvalOf(again), kAnn);
        CHECK(refused.status == 409);
        CHECK(refused.code() == "award_paid");
        CHECK(house.get("/api/v1/proposals/" + again.at("proposal")).at("state") == "refused");
    }
}

TEST_CASE("an award is withheld by two people, and released by two people")
{
    DeskFixture house;
    bigWin(house);
    const Answer proposed =
        house.post("/api/v1/claims/T1/1/withhold",
                   R"({"seat":2,"tier":"three_sevens_diamonds","reason":"under inquiry"})", kAnn);
    REQUIRE(proposed.status == 202);
    CHECK(house.post(pathOf(proposed, "approve"), approvalOf(proposed), kBob).status == 200);
    Answer claim = house.get("/api/v1/claims/T1/1");
    CHECK(claim.at("claims/0/state") == "final");
    CHECK(claim.at("claims/0/award_state") == "withheld");
    CHECK(claim.at("awards/0/state") == "withheld");
    CHECK(claim.at("awards/0/state_reason") == "under inquiry");
    CHECK(claim.at("awards/0/state_by/1") == "bob");
    CHECK(house.get("/api/v1/tables/T1").at("awards/0/state") == "withheld");
    CHECK(house.post("/api/v1/claims/T1/1/payments", kBigPayment, kAnn).code() == "award_withheld");

    const std::string release = R"({"seat":2,"tier":"three_sevens_diamonds","reason":"cleared"})";
    REQUIRE(house.postByTwo("/api/v1/claims/T1/1/release", release).status == 200);
    claim = house.get("/api/v1/claims/T1/1");
    CHECK(claim.at("awards/0/state") == "due");
    CHECK(claim.at("awards/0/state_reason") == "cleared");
    CHECK(house.post("/api/v1/claims/T1/1/release", release, kAnn).code() == "not_withheld");
    CHECK(house.postByTwo("/api/v1/claims/T1/1/payments", kBigPayment).status == 200);
    house.verify();
}

TEST_CASE("a pool is adjusted and its parameters are changed by two people")
{
    DeskFixture house;
    const rules::State before = house.state();
    Answer proposed = house.post("/api/v1/pools/B7/adjustments", kAdjust, kAnn);
    REQUIRE(proposed.status == 202);
    CHECK(house.state() == before);
    CHECK(proposed.at("words") == "pool B7 adjusted by $125.50: meter was read wrongly, by Ann");

    SUBCASE("approved by an inspector")
    {
        CHECK(house.post(pathOf(proposed, "approve"), approvalOf(proposed), kBob).status == 403);
        CHECK(house.state() == before);
        CHECK(house.post(pathOf(proposed, "approve"), approvalOf(proposed), kIvy).status == 200);
        CHECK(house.get("/api/v1/pools/B7").at("meter") == "50125.50000000");
        CHECK(countOf(house, "pool_adjusted") == 1);
    }
    SUBCASE("rejected, and by the proposer withdrawn")
    {
        CHECK(house.post(pathOf(proposed, "reject"), R"({"reason":"no"})", kAnn).status == 403);
        CHECK(house.post(pathOf(proposed, "withdraw"), "", kRoot).status == 403);
        Answer closed = house.post(pathOf(proposed, "reject"), R"({"reason":"no"})", kIvy);
        CHECK(closed.at("state") == "rejected");
        CHECK(closed.at("remark") == "no");
        CHECK(house.post(pathOf(proposed, "approve"), approvalOf(proposed), kIvy).code() ==
              "not_open");
        proposed = house.post("/api/v1/pools/B7/adjustments", kAdjust, kRoot);
        closed = house.post(pathOf(proposed, "withdraw"), "", kRoot);
        CHECK(closed.at("state") == "withdrawn");
        CHECK(house.post(pathOf(proposed, "approve"), approvalOf(proposed), kIvy).code() ==
              "not_open");
        CHECK(house.state() == before);
    }
    SUBCASE("the proposal has expired")
    {
        house.now += 24 * 3'600'000;
        CHECK(house.get("/api/v1/proposals/" + proposed.at("proposal")).at("state") == "expired");
        CHECK(house.post(pathOf(proposed, "approve"), approvalOf(proposed), kIvy).code() ==
              "not_open");
        CHECK(house.state() == before);
    }
    SUBCASE("a parameter change lists the parameters that change")
    {
        proposed =
            house.post("/api/v1/pools/B7/parameters",
                       R"({"minimum":"25000.00","cap":"90000.00","reason":"agreed"})", kRoot);
        REQUIRE(proposed.status == 202);
        CHECK(house.post(pathOf(proposed, "approve"), approvalOf(proposed), kIvy).status == 200);
        const Answer pool = house.get("/api/v1/pools/B7");
        CHECK(pool.at("parameters/minimum") == "50000.00000000");
        CHECK(pool.at("next_parameters/minimum") == "25000.00000000");
        CHECK(pool.at("next_parameters/increment") == "0.2");
        CHECK(pool.at("next_in_words").find("$50,000.00 -> $25,000.00") != std::string::npos);
        CHECK(house
                  .post("/api/v1/pools/B7/parameters",
                        R"({"minimum":"26000.00","reason":"no rule has this"})", kRoot)
                  .status == 409);
        proposed = house.post("/api/v1/pools/B7/parameters",
                              R"({"settle_after_ms":20000,"reason":"slow links"})", kRoot);
        CHECK(house.approve(proposed, kIvy).status == 200);
        CHECK(house.get("/api/v1/pools/B7").at("next_parameters/settle_after_ms") == "20000");
        proposed = house.post(
            "/api/v1/pools/UTH/parameters",
            R"({"guarantee":{"royal_flush":"60000.00"},"reason":"as on the sign"})", kRoot);
        CHECK(house.approve(proposed, kIvy).status == 200);
        CHECK(house.get("/api/v1/pools/UTH").at("next_parameters/guarantee/royal_flush") ==
              "60000.00000000");
    }
    house.verify();
}

TEST_CASE("a proposal survives a restart, and the loss of the search database")
{
    DeskFixture house;
    const Answer proposed = house.post("/api/v1/pools/B7/adjustments", kAdjust, kAnn);
    REQUIRE(proposed.status == 202);
    const Answer shown = house.get("/api/v1/proposals/" + proposed.at("proposal"));
    house.restart([&] { std::filesystem::remove(house.path() / "search.db"); });
    CHECK(house.get("/api/v1/proposals/" + proposed.at("proposal")).body == shown.body);
    CHECK(house.get("/api/v1/proposals?state=open").count("proposals") == 1);
    CHECK(house.post(pathOf(proposed, "approve"), approvalOf(proposed), kIvy).status == 200);
    house.restart();
    CHECK(house.post(pathOf(proposed, "approve"), approvalOf(proposed), kIvy).status == 409);
    CHECK(house.get("/api/v1/pools/B7").at("meter") == "50125.50000000");
}

TEST_CASE("after a crash between the approval and the command, the command is never carried out")
{
    DeskFixture house;
    const Answer proposed = house.post("/api/v1/pools/B7/adjustments", kAdjust, kAnn);
    struct Cut {};
    house.afterwards = [](const std::string& what) {
        if (what == "proposal_approved") throw Cut{};
    };
    CHECK_THROWS_AS((void)house.post(pathOf(proposed, "approve"), approvalOf(proposed), kIvy), Cut);
    house.afterwards = {};
    house.restart();
    const std::string id = "/api/v1/proposals/" + proposed.at("proposal");
    CHECK(house.get(id).at("state") == "approved");
    CHECK(house.post(pathOf(proposed, "approve"), approvalOf(proposed), kIvy).code() == "not_open");
    CHECK(house.get("/api/v1/pools/B7").at("meter") == "50000.00000000");
    // The same proposal by the same people is a new one, and only this one is carried out.
    const Answer again = house.post("/api/v1/pools/B7/adjustments", kAdjust, kAnn);
    CHECK(house.post(pathOf(again, "approve"), approvalOf(again), kIvy).status == 200);
    CHECK(house.get(id).at("state") == "approved");
    CHECK(house.get("/api/v1/proposals/" + again.at("proposal")).at("state") == "done");
    CHECK(countOf(house, "pool_adjusted") == 1);
}

TEST_CASE("after a crash following the command, the command stays carried out")
{
    DeskFixture house;
    const Answer proposed = house.post("/api/v1/pools/B7/adjustments", kAdjust, kAnn);
    struct Cut {};
    house.afterwards = [](const std::string& what) {
        if (what == "pool_adjusted") throw Cut{};
    };
    CHECK_THROWS_AS((void)house.post(pathOf(proposed, "approve"), approvalOf(proposed), kIvy), Cut);
    house.afterwards = {};
    house.restart();
    CHECK(house.get("/api/v1/proposals/" + proposed.at("proposal")).at("state") == "done");
    CHECK(house.post(pathOf(proposed, "approve"), approvalOf(proposed), kIvy).code() == "not_open");
    CHECK(countOf(house, "pool_adjusted") == 1);
}

TEST_CASE("two simultaneous approvals carry the command out once")
{
    DeskFixture house;
    for (int i = 0; i < 8; ++i) {
        const Answer proposed = house.post("/api/v1/pools/B7/adjustments", kAdjust, kAnn);
        std::atomic<int> good{0};
        std::atomic<int> late{0};
        {
            std::vector<std::jthread> threads;
            for (const Person& person : {kIvy, kRoot, Person{"Igor", Role::Inspector}})
                threads.emplace_back([&house, &proposed, &good, &late, person] {
                    const Answer answer =
                        house.post(pathOf(proposed, "approve"), approvalOf(proposed), person);
                    if (answer.status == 200) ++good;
                    if (answer.status == 409) ++late;
                });
        }
        CHECK(good == 1);
        CHECK(late == 2);
    }
    CHECK(countOf(house, "pool_adjusted") == 8);
    CHECK(house.get("/api/v1/pools/B7").at("meter") == "51004.00000000");
}

TEST_CASE("a forged proposal in the search database is not carried out")
{
    DeskFixture house;
    const Answer proposed = house.post("/api/v1/pools/B7/adjustments", kAdjust, kAnn);
    std::string forged = proposed.at("proposed");
    forged.replace(forged.find("125.5"), 5, "925.5");
    house.restart([&] {
        storage::Database database{(house.path() / "search.db").string(),
                                   storage::Database::Mode::ReadWrite};
        auto alter = database.prepare("UPDATE proposal SET proposed = ?1, hash = ?2");
        const std::string hash = proposedHash(forged);
        alter.bindText(1, forged).bindText(2, hash).run();
    });
    const Answer shown = house.get("/api/v1/proposals/" + proposed.at("proposal"));
    REQUIRE(shown.at("proposed") == forged);  // control: the forged proposal is shown
    const Answer refused = house.post(pathOf(shown, "approve"), approvalOf(shown), kIvy);
    CHECK(refused.status == 503);
    CHECK(house.get("/api/v1/pools/B7").at("meter") == "50000.00000000");
}

}  // namespace
}  // namespace jackpot::console
