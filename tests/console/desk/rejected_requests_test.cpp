// Wrong requests are refused with a 4xx, and change nothing.
#include <doctest/doctest.h>

#include "rules/apply.h"
#include "tests/console/desk_fixture.h"
#include "tests/support/random.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::console {
namespace {

// A desk at which each of the requests below could succeed.
void prepare(DeskFixture& house)
{
    house.claim("T1", 1, {2});
    house.confirm("T1", 1);
    house.wait(10'000);
    house.claim("T2", 1, {1});
    house.claim("T3", 1, {1});
    house.confirm("T2", 1);
    house.confirm("T3", 1);
    (void)house.give(rules::OpenRound{"T4", 1, {{1, true, {}, {}}}});
    (void)house.give(rules::SuspendTable{
        "U1", rules::SuspensionGround::Malfunction, rules::Origin::Desk, "r", {"Ann"}});
    (void)house.give(rules::SuspendPool{"UTH", "r", {"Ann"}});
}

struct Way {
    std::string target;
    std::string body;  // that is good in form
    Person person;
    int good = 200;  // what it is answered with
};

const std::string kOrder = R"([[{"table":"T2","round":1}],[{"table":"T3","round":1}]])";

std::vector<Way> ways()
{
    return {
        {"/api/v1/pools/B7/rulings", R"({"order":)" + kOrder + R"(,"reason":"r","token":"TOKEN"})",
         kEye},
        {"/api/v1/pools/B7/rulings/preview", R"({"order":)" + kOrder + "}", kEye},
        {"/api/v1/claims/T1/1/payments",
         R"({"seat":2,"tier":"three_suited_sevens","paid":"5000.00","how":"chips"})", kAnn},
        {"/api/v1/claims/T1/1/withhold", R"({"seat":2,"tier":"three_suited_sevens","reason":"r"})",
         kAnn, 202},
        {"/api/v1/tables/T4/suspend", R"({"ground":"malfunction","reason":"r"})", kAnn},
        {"/api/v1/tables/U1/resume", R"({"reason":"r"})", kAnn},
        {"/api/v1/pools/B7/suspend", R"({"reason":"r"})", kAnn},
        {"/api/v1/pools/UTH/resume", R"({"reason":"r"})", kAnn},
        {"/api/v1/tables/T4/rounds/1/void", R"({"ground":"dealing_error","reason":"r"})", kAnn},
        {"/api/v1/tables/T4/rounds/1/void",
         R"({"ground":"invalidated","forfeited":[1],"reason":"r"})", kAnn, 202},
        {"/api/v1/tables/T4/rounds/1/wagers/1/void", R"({"ground":"refused","reason":"r"})", kAnn},
        {"/api/v1/tables/T1/rounds/1/correct",
         R"({"board":["7H"],"hands":[{"seat":2,"cards":["7H","7D"]}],"reason":"r"})", kAnn, 202},
        {"/api/v1/tables/T1/rounds/1/close", R"({"reason":"r"})", kAnn},
        {"/api/v1/pools/B7/adjustments", R"({"amount":"-1.00","reason":"r"})", kAnn, 202},
        {"/api/v1/pools/B7/parameters", R"({"minimum":"25000.00","reason":"r"})", kRoot, 202},
    };
}

// Bodies that are wrong for every route.
const std::vector<std::string> kNonsense{
    "",
    " ",
    "{",
    "null",
    "17",
    "[]",
    "\"reason\"",
    "{}",
    R"({"unknown":1})",
    "\xff\xfe",
    R"({"reason":"\ud800"})",
    std::string(100'000, ' '),
    std::string(60'000, '['),
    std::string(30'000, '[') + std::string(30'000, ']'),
};

// Replaces each text of a good body by invalid texts.
std::vector<std::string> spoiled(const std::string& body)
{
    std::vector<std::string> bad = kNonsense;
    const auto with = [&](const std::string& from, const std::string& to) {
        if (const std::size_t at = body.find(from); at != std::string::npos)
            bad.push_back(std::string{body}.replace(at, from.size(), to));
    };
    with("}", R"(,"more":1})");
    with(R"("reason":"r")", R"("reason":"")");
    with(R"("reason":"r")", R"("reason":"  ")");
    with(R"("reason":"r")", R"("reason":17)");
    with(R"("reason":"r")", R"("reason":null)");
    with(R"("reason":"r")", R"("reason":"r","reason":"s")");
    with(R"("reason":"r")", R"("reason":"a\u0007b")");
    with(R"("reason":"r")", R"("reason":")" + std::string(501, 'x') + "\"");
    with(R"("reason":"r")", R"("Reason":"r")");
    with(R"("how":"chips")", R"("how":["chips"])");
    with(R"("seat":2)", R"("seat":0)");
    with(R"("seat":2)", R"("seat":10)");
    with(R"("seat":2)", R"("seat":-1)");
    with(R"("seat":2)", R"("seat":2.5)");
    with(R"("seat":2)", R"("seat":"2")");
    with(R"("seat":2)", R"("seat":99999999999999999999)");
    with("three_suited_sevens", "nothing");
    with(R"("ground":)", R"("why":)");
    with("dealing_error", "misdeal");
    with("dealing_error", "loss_limit");
    with("malfunction", "Malfunction");
    with(R"("ground":"refused")", R"("ground":"dealing_error")");
    with(R"("ground":"refused")", R"("ground":null)");
    with(R"("ground":"invalidated")", R"("ground":"shuffling_device")");
    with(R"("forfeited":[1])", R"("forfeited":[10])");
    with(R"("forfeited":[1])", R"("forfeited":1)");
    with("three_suited_sevens", "THREE_SUITED_SEVENS");
    with("\"5000.00\"", "5000.00");
    with("5000.00", "5e3");
    with("5000.00", "5000.000000001");
    with("5000.00", "99999999999999999999");
    with("5000.00", "NaN");
    with("\"-1.00\"", "\"0\"");
    with("\"-1.00\"", "\"$1\"");
    with("25000.00", "");
    with(R"("minimum")", R"("opening")");
    with(R"("order":[[)", R"("order":[[],[)");
    with(R"("order":)" + kOrder, R"("order":[])");
    with(R"("order":)" + kOrder, R"("order":{})");
    with(R"("order":)" + kOrder, R"("order":[{"table":"T2","round":1}])");
    with(R"("round":1)", R"("round":-1)");
    with(R"("round":1)", R"("round":1,"seat":2)");
    with(R"("table":"T2")", R"("table":2)");
    with("TOKEN\"", "\"");
    return bad;
}

std::string filled(DeskFixture& house, std::string body)
{
    if (const std::size_t at = body.find("TOKEN"); at != std::string::npos)
        body.replace(
            at, 5,
            house.post("/api/v1/pools/B7/rulings/preview", R"({"order":)" + kOrder + "}", kEye)
                .at("token"));
    return body;
}

TEST_CASE("bad bodies are refused, and nothing has changed")
{
    DeskFixture house;
    prepare(house);
    const rules::State before = house.state();
    const std::uint64_t size = house.size();
    for (const Way& way : ways())
        for (const std::string& body : spoiled(way.body)) {
            const Answer answer = house.post(way.target, body, way.person);
            CAPTURE(way.target);
            CAPTURE(body.substr(0, 200));
            CHECK(answer.status >= 400);
            CHECK(answer.status < 500);
        }
    CHECK(house.state() == before);
    CHECK(house.size() == size);
    // Control: the correct requests are accepted.
    for (const Way& way : ways()) {
        DeskFixture other;
        prepare(other);
        CAPTURE(way.target);
        CHECK(other.post(way.target, filled(other, way.body), way.person).status == way.good);
        other.verify();
    }
}

TEST_CASE("a person without the required role is refused")
{
    DeskFixture house;
    prepare(house);
    const rules::State before = house.state();
    for (const Way& way : ways()) {
        if (way.target.ends_with("preview")) continue;
        CAPTURE(way.target);
        CHECK(house.post(way.target, way.body, kAudrey).status == 403);
    }
    CHECK(house.state() == before);
}

TEST_CASE("an object that does not exist is refused, whatever the form of its name")
{
    DeskFixture house;
    prepare(house);
    const rules::State before = house.state();
    const std::string reason = R"({"reason":"r"})";
    for (const std::string& name :
         std::vector<std::string>{"T9", "", "..", "\xff", "T1\n", std::string(5000, 'x')}) {
        CAPTURE(name);
        for (const Answer& answer :
             {house.get("/api/v1/tables/" + name), house.get("/api/v1/pools/" + name),
              house.get("/api/v1/pools/" + name + "/rulings"),
              house.post("/api/v1/tables/" + name + "/suspend", R"({"ground":"closed"})", kAnn),
              house.post("/api/v1/pools/" + name + "/suspend", reason, kAnn),
              house.post("/api/v1/pools/" + name + "/adjustments",
                         R"({"amount":"1.00","reason":"r"})", kAnn),
              house.post("/api/v1/pools/" + name + "/parameters", reason, kRoot),
              house.post("/api/v1/tables/" + name + "/rounds/1/void",
                         R"({"ground":"dealing_error"})", kAnn)})
            CHECK(answer.status == 404);
    }
    for (const char* const each : {"", "x", "-1", "1.5", "00", "1e3", "99999999999999999999"}) {
        const std::string number = each;
        CAPTURE(number);
        CHECK(house.get("/api/v1/records/" + number).status == 404);
        CHECK(house.get("/api/v1/proposals/" + number).status == 404);
        CHECK(house.get("/api/v1/claims/T1/" + number).status == 404);
        CHECK(
            house.post("/api/v1/claims/T1/" + number + "/payments", ways()[2].body, kAnn).status ==
            404);
        CHECK(house
                  .post("/api/v1/proposals/" + number + "/approve",
                        R"({"sha256":")" + std::string(64, 'a') + "\"}", kIvy)
                  .status == 404);
        CHECK(house.post("/api/v1/notices/" + number + "/acknowledge", "", kIvy).status == 404);
    }
    for (const char* query :
         {"limit=0", "limit=501", "limit=x", "limit=-1", "before=x", "after=-1", "from=yesterday",
          "to=2026-13-01", "from=2026-01-02&to=2026-01-01", "nonsense=1", "round=x", "kind=\xff"})
        CHECK(house.get(std::string{"/api/v1/records?"} + query).status == 400);
    for (const char* report :
         {"wins", "wins.pdf", "losses.txt", ".txt", "wins.txt.txt", "../wins.txt"})
        if (std::string{report}.find('/') == std::string::npos)
            CHECK(house.get(std::string{"/api/v1/reports/"} + report).status == 404);
    for (const char* query : {"month=May", "month=2026-05&from=2026-05-01", "last=0",
                              "last=1000000", "timezone-offset=Z", "form=csv"})
        CHECK(house.get(std::string{"/api/v1/reports/wins.txt?"} + query).status == 400);
    CHECK(house.get("/api/v1/reports/wins.txt?pool=nowhere").status == 404);
    CHECK(house.get("/api/v1/notices?acknowledged=maybe").status == 400);
    CHECK(house.get("/api/v1/claims?paid=maybe").status == 400);
    CHECK(house.get("/api/v1/reports/wins.txt").status == 200);
    house.desk().stopReports();
    CHECK(house.get("/api/v1/reports/wins.txt").status == 503);
    CHECK(house.state() == before);
}

TEST_CASE("a command that the rules refuse is answered with the code and the rule, and journaled")
{
    DeskFixture house;
    prepare(house);
    const rules::State before = house.state();
    const std::uint64_t size = house.size();
    Answer answer = house.post("/api/v1/tables/T4/resume", R"({"reason":"r"})", kAnn);
    CHECK(answer.status == 409);
    CHECK(answer.code() == "not_suspended");
    answer = house.post("/api/v1/tables/T4/rounds/1/correct",
                        R"({"board":["7H"],"hands":[],"reason":"r"})", kAnn);
    CHECK(answer.code() == "no_result");
    CHECK(answer.at("error/message").find("BJ 16.8") != std::string::npos);
    CHECK(house.size() >= size + 2);
    CHECK(house.state() == before);
}

TEST_CASE("every route answers arbitrary bytes, and the journal still verifies")
{
    auto random = seededRandom();
    DeskFixture house;
    prepare(house);
    for (int i = 0; i < 1500; ++i) {
        const auto all = ways();
        const Way& way = all[below(random, all.size())];
        const Answer answer = house.post(way.target, mutated(way.body, random), way.person);
        CHECK(answer.status >= 200);
        CHECK(answer.status < 500);
    }
    house.verify();
}

TEST_CASE("without the daemon no POST succeeds, and every route answers")
{
    DeskFixture house;
    prepare(house);
    Controller dead{[](rules::Command) -> Result<rules::Outcome> { return Error{"gone"}; },
                    [](std::string, EventFields) -> Result<std::uint64_t> { return Error{"gone"}; },
                    []() -> Result<std::shared_ptr<const rules::State>> { return Error{"gone"}; },
                    []() -> Result<Controller::Lock> { return Error{"gone"}; },
                    [](Controller::Acceptance) -> Result<std::uint64_t> { return Error{"gone"}; },
                    {},
                    [] { return std::string{"{}"}; }};
    DeskApi desk{house.settings, dead, house.book()};
    for (const Route& route : desk.routes()) {
        Request request;
        request.path = {{"pool", "B7"}, {"table", "T1"}, {"round", "1"},        {"seat", "2"},
                        {"id", "1"},    {"seq", "1"},    {"report", "wins.txt"}};
        for (const Way& way : ways()) {
            request.body = way.body;
            const Reply reply = route.handle(request);
            CAPTURE(route.pattern);
            CHECK((reply.status == 200 || reply.status >= 400));
            CHECK_FALSE((reply.status == 200 && route.method == "POST"));
        }
    }
}

}  // namespace
}  // namespace jackpot::console
