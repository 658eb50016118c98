// The story of the claims desk: a tie, its previews, rulings, payments, a short one, the report.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>

#include "console/desk/daemon_api.h"
#include "console/desk/preview.h"
#include "rules/apply.h"
#include "tests/console/desk_fixture.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::console {
namespace {

// {"order":...,"reason":...,"token":...} from a preview as it was shown.
std::string rulingFrom(const Answer& shown, std::size_t preview, const std::string& token = {})
{
    const std::string at = "holds/0/previews/" + std::to_string(preview) + "/";
    std::string order;
    for (std::size_t g = 0; g < shown.count(at + "order"); ++g) {
        const std::string group = at + "order/" + std::to_string(g);
        order += (g == 0 ? "[" : ",[");
        for (std::size_t r = 0; r < shown.count(group); ++r) {
            const std::string round = group + "/" + std::to_string(r);
            order += (r == 0 ? "" : ",") + std::string{R"({"table":")"} +
                     shown.at(round + "/table") + R"(","round":)" + shown.at(round + "/round") +
                     "}";
        }
        order += "]";
    }
    return R"({"order":[)" + order + R"(],"reason":"as seen on camera 12","token":")" +
           (token.empty() ? shown.at(at + "token") : token) + "\"}";
}

void tie(DeskFixture& house, const std::vector<std::string>& tables, std::int64_t round)
{
    for (const std::string& table : tables) {
        house.claim(table, round, table == "T2" ? std::vector{1, 3} : std::vector{2});
        house.wait(100);
    }
    for (const std::string& table : tables) {
        house.confirm(table, round);
        house.wait(300);
    }
}

// From the ruling of the first tie to the journal that verifies; `shown` are its previews.
void ruleAndPay(DeskFixture& house, Answer shown)
{
    CHECK(house.post("/api/v1/pools/B7/rulings", rulingFrom(shown, 0), kAnn).status == 403);
    const Answer ruled = house.post("/api/v1/pools/B7/rulings", rulingFrom(shown, 0), kEye);
    REQUIRE(ruled.status == 200);
    Answer claim = house.get("/api/v1/claims/T2/1");
    CHECK(claim.at("claims/0/state") == "due");
    REQUIRE(claim.count("awards") == 2);
    CHECK(claim.at("awards/0/seat") == "3");  // from the dealer's right to left
    CHECK(claim.at("awards/0/state") == "due");
    CHECK(claim.at("awards/0/player") == "p-T2-3");

    house.wait(10'000);
    tie(house, {"T3", "T1"}, 2);
    shown = house.get("/api/v1/pools/B7/rulings", kEye);
    REQUIRE(shown.at("holds/0/previews/1/order/1/0/table") != "");
    CHECK(house.post("/api/v1/pools/B7/rulings", rulingFrom(shown, 1), kEye).status == 200);
    CHECK(house.get("/api/v1/claims?state=due").count("claims") == 5);
    CHECK(house.get("/api/v1/claims?state=held").count("claims") == 0);

    // A short payment below the limit takes one person.
    const std::string due = house.get("/api/v1/claims/T1/1").at("awards/0/amount");
    REQUIRE(rules::dollars(due) > rules::dollars("2000"));
    Answer paid = house.post(
        "/api/v1/claims/T1/1/payments",
        R"({"seat":2,"tier":"three_suited_sevens","paid":"2000.00","how":"chips"})", kAnn);
    REQUIRE(paid.status == 200);
    CHECK(paid.at("claims/0/state") == "final");
    CHECK(paid.at("awards/0/state") == "due");
    CHECK(paid.at("awards/0/paid") == "2000.00000000");
    CHECK(paid.at("awards/0/payments/0/by/0") == "Ann");
    CHECK(rules::dollars(paid.at("awards/0/difference")) ==
          rules::dollars("2000") - rules::dollars(due));
    CHECK(house.get("/api/v1/claims?paid=true").count("claims") == 1);
    CHECK(house.get("/api/v1/claims?paid=false").count("claims") == 4);
    // The seat has no other award.
    paid = house.post("/api/v1/claims/T1/1/payments",
                      R"({"seat":2,"tier":"three_sevens_diamonds","paid":"2.00","how":"chips"})",
                      kAnn);
    CHECK(paid.status == 409);
    CHECK(paid.code() == "no_such_award");

    const Answer report = house.get("/api/v1/reports/differences.json?month=2026-01");
    REQUIRE(report.status == 200);
    REQUIRE(report.count("differences") == 1);
    CHECK(report.at("differences/0/paid") == "2000.00000000");
    CHECK(report.at("differences/0/due") == due);
    CHECK(house.get("/api/v1/reports/differences.json?month=2026-02").count("differences") == 0);
    CHECK(house.get("/api/v1/reports/differences.txt").body.find("underpaid by") !=
          std::string::npos);
    CHECK(house.get("/api/v1/reports/wins.csv?pool=B7").body.find("paid 2000") !=
          std::string::npos);
    const std::string days = house.get("/api/v1/reports/reconciliation.txt").body;
    CAPTURE(days);
    CHECK(days.find("Every day agrees") != std::string::npos);

    // BJ 16.19: the inspector gets a notice.
    Answer notices = house.get("/api/v1/notices?acknowledged=false", kIvy);
    REQUIRE(notices.count("notices") == 3);
    CHECK(notices.at("notices/0/kind") == "payment_difference");
    CHECK(notices.at("notices/0/rule") == "BJ 16.19");
    CHECK(notices.at("notices/0/text").find("underpaid by") != std::string::npos);
    // Surveillance gets one of each tie.
    CHECK(notices.at("notices/1/kind") == "held");
    CHECK(notices.at("notices/1/to/0") == "surveillance");
    CHECK(notices.at("notices/1/text").find("T3 round 2, T1 round 2") != std::string::npos);

    // The rest is paid: nothing differs any more (BJ 16.21.1).
    const std::string rest = toExact(rules::dollars(due) - rules::dollars("2000"));
    paid = house.post(
        "/api/v1/claims/T1/1/payments",
        R"({"seat":2,"tier":"three_suited_sevens","paid":")" + rest + R"(","how":"cheque"})", kAnn);
    REQUIRE(paid.status == 200);
    CHECK(paid.at("awards/0/difference") == "0.00000000");
    REQUIRE(paid.count("awards/0/payments") == 2);
    CHECK(paid.at("awards/0/payments/0/rectification") == "false");
    CHECK(paid.at("awards/0/payments/1/rectification") == "true");
    CHECK(paid.at("awards/0/payments/1/sum") == due);
    CHECK(house.get("/api/v1/notices?acknowledged=false", kIvy).count("notices") == 3);
    CHECK(house.get("/api/v1/reports/differences.json?month=2026-01").count("differences") == 0);

    // Each step is in the journal, and it verifies.
    for (const char* kind :
         {"surveillance_ruling", "ruling_reasoned", "payment_recorded", "request_refused"})
        CHECK(house.get(std::string{"/api/v1/records?kind="} + kind).count("records") >= 1);
    CHECK(house.get("/api/v1/records?who=EYE4").count("records") == 4);
    house.verify();
}

TEST_CASE("a tie is held, shown with its previews, and ruled simultaneous; another in order")
{
    DeskFixture house;
    tie(house, {"T1", "T2"}, 1);

    Answer held = house.get("/api/v1/claims?state=held");
    REQUIRE(held.count("claims") == 3);
    CHECK(held.at("claims/0/table") == "T2");
    CHECK(held.at("claims/0/board") == "7H");
    CHECK(held.at("claims/0/cards") == "7H 7H");
    CHECK(held.at("claims/0/tier") == "three_suited_sevens");
    CHECK(held.at("claims/0/confirmed_utc") == "2026-01-01T00:00:00.500Z");
    CHECK(held.at("claims/0/held_for/0") == "tie");
    CHECK(held.at("claims/0/player") == "p-T2-1");
    CHECK(held.at("claims/0/award_state") == "locked");
    CHECK(house.get("/api/v1/claims?state=held&pool=UTH").count("claims") == 0);

    Answer shown = house.get("/api/v1/pools/B7/rulings", kEye);
    REQUIRE(shown.count("holds") == 1);
    CHECK(shown.count("holds/0/rounds") == 2);
    CHECK(shown.at("holds/0/held_for/0") == "tie");
    REQUIRE(shown.count("holds/0/previews") == 3);
    CHECK(shown.at("holds/0/previews/0/words") == "T1 round 1 together with T2 round 1");
    CHECK(shown.count("holds/0/previews/0/awards") == 3);
    CHECK(shown.at("holds/0/previews/0/awards/0/rule") == "BJ 14.27.2");
    CHECK(shown.at("holds/0/previews/0/awards/0/arithmetic").find("shared by 3") !=
          std::string::npos);

    SUBCASE("each ruling pays the amounts of its preview, to the cent")
    {
        for (std::size_t i = 0; i < 3; ++i) {
            DeskFixture fresh;
            tie(fresh, {"T1", "T2"}, 1);
            const Answer again = fresh.get("/api/v1/pools/B7/rulings", kEye);
            const std::string at = "holds/0/previews/" + std::to_string(i) + "/";
            // Wagers that come in meanwhile leave the preview as it is.
            if (i == 1) (void)fresh.give(rules::OpenRound{"T3", 1, {{1, true, {}, {}}}});
            const Answer ruled = fresh.post("/api/v1/pools/B7/rulings", rulingFrom(again, i), kEye);
            REQUIRE(ruled.status == 200);
            REQUIRE(ruled.count("awards") == again.count(at + "awards"));
            for (std::size_t a = 0; a < ruled.count("awards"); ++a)
                for (const char* key :
                     {"place", "table", "round", "seat", "tier", "amount", "rule", "arithmetic"}) {
                    const std::string field = "awards/" + std::to_string(a) + "/" + key;
                    CHECK(ruled.at(field) == again.at(at + field));
                }
            if (i != 1)
                CHECK(fresh.get("/api/v1/pools/B7").at("meter") == again.at(at + "meter_after"));
            fresh.verify();
        }
    }

    SUBCASE("a ruling, a second tie, a short payment, its report and its notice")
    {
        ruleAndPay(house, shown);
    }
}

TEST_CASE("three held rounds have thirteen rulings, and each pays the amounts of its preview")
{
    const auto prepare = [](DeskFixture& house) { tie(house, {"T1", "T2", "T3"}, 1); };
    DeskFixture first;
    prepare(first);
    const Answer shown = first.get("/api/v1/pools/B7/rulings", kEye);
    REQUIRE(shown.count("holds/0/previews") == 13);
    const rules::State before = first.state();
    std::set<std::string> words;
    std::set<std::string> tokens;
    for (std::size_t i = 0; i < 13; ++i) {
        const std::string at = "holds/0/previews/" + std::to_string(i) + "/";
        words.insert(shown.at(at + "words"));
        tokens.insert(shown.at(at + "token"));
        DeskFixture house;
        prepare(house);
        REQUIRE(house.state() == before);
        const Answer ruled = house.post("/api/v1/pools/B7/rulings", rulingFrom(shown, i), kEye);
        REQUIRE(ruled.status == 200);
        REQUIRE(ruled.count("awards") == 4);
        for (std::size_t a = 0; a < 4; ++a) {
            const std::string field = "awards/" + std::to_string(a);
            CHECK(ruled.at(field + "/amount") == shown.at(at + field + "/amount"));
            CHECK(ruled.at(field + "/table") == shown.at(at + field + "/table"));
        }
        CHECK(house.get("/api/v1/pools/B7").at("meter") == shown.at(at + "meter_after"));
    }
    CHECK(words.size() == 13);
    CHECK(tokens.size() > 1);
}

TEST_CASE("a ruling that names an outdated preview is refused, and changes nothing")
{
    DeskFixture house;
    tie(house, {"T1", "T2"}, 1);
    const Answer shown = house.get("/api/v1/pools/B7/rulings", kEye);
    const std::string given = rulingFrom(shown, 0);

    SUBCASE("a claim was dropped meanwhile")
    {
        REQUIRE(
            house
                .postByTwo("/api/v1/tables/T2/rounds/1/wagers/3/void", R"({"ground":"loss_limit"})")
                .status == 200);
        const Answer again = house.get("/api/v1/pools/B7/rulings", kEye);
        const std::uint64_t size = house.size();
        const Answer refused = house.post("/api/v1/pools/B7/rulings", given, kEye);
        CHECK(refused.status == 409);
        CHECK(refused.code() == "preview_outdated");
        CHECK(house.size() == size);
        // With a new preview the ruling is accepted.
        CHECK(house.post("/api/v1/pools/B7/rulings", rulingFrom(again, 0), kEye).status == 200);
    }
    SUBCASE("a third claim has joined")
    {
        house.claim("T3", 1, {5});
        house.confirm("T3", 1);
        const Answer refused = house.post("/api/v1/pools/B7/rulings", given, kEye);
        CHECK(refused.status == 409);
        CHECK(refused.code() == "bad_ruling");
        CHECK(house.get("/api/v1/claims?state=held").count("claims") == 4);
    }
    SUBCASE("the preview belongs to another ruling")
    {
        const Answer refused =
            house.post("/api/v1/pools/B7/rulings",
                       rulingFrom(shown, 0, shown.at("holds/0/previews/1/token")), kEye);
        CHECK(refused.status == 409);
        CHECK(house.get("/api/v1/claims?state=held").count("claims") == 3);
    }
    SUBCASE("the claim was ruled already")
    {
        CHECK(house.post("/api/v1/pools/B7/rulings", given, kEye).status == 200);
        const Answer refused = house.post("/api/v1/pools/B7/rulings", given, kEye);
        CHECK(refused.status == 409);
        CHECK(refused.code() == "nothing_held");
    }
}

TEST_CASE("with more than three held rounds, any requested order can be previewed")
{
    DeskFixture house;
    tie(house, {"T1", "T2", "T3", "T4"}, 1);
    const Answer shown = house.get("/api/v1/pools/B7/rulings", kEye);
    CHECK(shown.at("holds/0/all_rulings") == "false");
    CHECK(shown.count("holds/0/previews") == 2);
    const std::string order =
        R"([[{"table":"T4","round":1}],[{"table":"T1","round":1},{"table":"T3","round":1}],[{"table":"T2","round":1}]])";
    const Answer preview =
        house.post("/api/v1/pools/B7/rulings/preview", R"({"order":)" + order + "}", kEye);
    REQUIRE(preview.status == 200);
    REQUIRE(preview.count("awards") == 5);
    CHECK(preview.at("awards/0/table") == "T4");
    const Answer ruled = house.post(
        "/api/v1/pools/B7/rulings",
        R"({"order":)" + order + R"(,"reason":"clocks","token":")" + preview.at("token") + "\"}",
        kEye);
    REQUIRE(ruled.status == 200);
    for (int a = 0; a < 5; ++a) {
        const std::string amount = "awards/" + std::to_string(a) + "/amount";
        CHECK(ruled.at(amount) == preview.at(amount));
    }
    CHECK(
        house.post("/api/v1/pools/B7/rulings/preview", R"({"order":)" + order + "}", kEye).code() ==
        "nothing_held");
}

TEST_CASE("docs/desk-routes.md lists all routes and their roles")
{
    DeskFixture house;
    const Controller controller = house.controller();
    DeskApi desk{house.settings, controller, house.book()};
    std::vector<Route> routes = daemonRoutes(controller);
    std::ranges::move(desk.routes(), std::back_inserter(routes));
    std::string listed;
    for (const Route& route : routes) {
        std::string who;
        for (const Role role : route.roles)
            who += (who.empty() ? "" : ", ") + std::string{idOf(role)};
        if (route.access == Access::SignedIn) who = "signed in";
        const std::string owner = route.owner == Owner::Allowed ? "yes" : "";
        listed += "| " + std::string{route.method} + " | `" + std::string{route.pattern} + "` | " +
                  who + " | " + owner + " |\n";
    }
    const std::string page = bytesOf(DESK_ROUTES_PAGE);
    const std::string head = "| | route | who | owner |\n|---|---|---|---|\n";
    const std::size_t begin = page.find(head) + head.size();
    CHECK(page.substr(begin, page.find("\n\n", begin) + 1 - begin) == listed);
}

TEST_CASE("a record is shown with its description, its payload and its proof")
{
    DeskFixture house;
    house.claim("T1", 1, {2});
    const std::uint64_t seq = house.size() - 1;
    const std::string at = "/api/v1/records/" + std::to_string(seq);
    const Answer record = house.get(at);
    REQUIRE(record.status == 200);
    CHECK(record.at("payload") == house.last());
    CHECK(record.at("words").find("T1 round 1 result: 7H") != std::string::npos);
    const Answer proof = house.get(at + "/proof");
    CHECK(proof.body.starts_with("c2sp.org/tlog-proof@v1\nindex " + std::to_string(seq) + "\n"));
    const Answer checkpoint = house.get("/api/v1/checkpoint");
    CHECK(proof.body.find(checkpoint.body) != std::string::npos);
    CHECK(house.get("/api/v1/records/999").status == 404);
    CHECK(house.get("/api/v1/records/999/proof").status == 404);
}

}  // namespace
}  // namespace jackpot::console
