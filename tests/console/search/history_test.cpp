// The displayed amounts for charts, and the changes that the feed reports.
#include <doctest/doctest.h>

#include "tests/console/desk_fixture.h"

namespace jackpot::console {
namespace {

constexpr std::chrono::seconds kEnough{20};

void playOne(DeskFixture& house, std::int64_t round)
{
    REQUIRE_FALSE(house.give(rules::OpenRound{"T1", round, {{1, true, {}, {}}}}).refusal);
    REQUIRE_FALSE(house.give(rules::ReportResult{"T1", round, {"9H"}, {}}).refusal);
}

rules::Money displayedBy(DeskFixture& house) { return house.state().pools[0].displayed(); }

TEST_CASE("a chart has few points, the last amount of each part, and every win with both sides")
{
    DeskFixture house;
    std::vector<std::pair<rules::TimeMs, rules::Money>> stood;
    for (int round = 1; round <= 60; ++round) {
        house.wait(60'000);
        playOne(house, round);
        stood.emplace_back(house.now, displayedBy(house));
    }
    house.wait(60'000);
    house.claim("T2", 1, {1});
    const rules::Money before = displayedBy(house);
    house.confirm("T2", 1);
    house.wait(60'000);
    house.wait(60'000);
    playOne(house, 61);
    const rules::Money after = displayedBy(house);
    REQUIRE(after < before);
    REQUIRE(house.book().catchUp(kEnough));

    const auto rows = storage::orThrow(house.book().amounts({"B7", {}, {}, 10}));
    CHECK(rows.size() >= 10);
    CHECK(rows.size() <= 12);
    CHECK(std::ranges::is_sorted(rows, {}, &AmountRow::seq));
    CHECK(rows.back().displayed == after);
    CHECK(std::ranges::count_if(rows,
                                [](const AmountRow& row) { return row.before.has_value(); }) == 1);
    const auto win =
        std::ranges::find_if(rows, [](const AmountRow& row) { return row.before.has_value(); });
    CHECK(*win->before == before);
    CHECK(win->displayed < before);
    // Each point is the amount at its time.
    const auto all = storage::orThrow(house.book().amounts({"B7", {}, {}, 500}));
    for (const auto& [time, amount] : stood)
        CHECK(std::ranges::any_of(all, [&](const AmountRow& row) {
            return row.timeMs <= time && row.displayed == amount;
        }));
    // A period begins with the amount at its beginning.
    const auto part =
        storage::orThrow(house.book().amounts({"B7", stood[30].first + 1, stood[40].first, 500}));
    CHECK(part.front().displayed == stood[30].second);
    CHECK(part.back().displayed == stood[40].second);
    CHECK(std::ranges::none_of(part, [](const AmountRow& row) { return row.before.has_value(); }));
    // A period that begins after a win does not contain it.
    const auto later = storage::orThrow(house.book().amounts({"B7", win->timeMs + 1, {}, 10}));
    CHECK(later.front().displayed == win->displayed);
    CHECK_FALSE(later.front().before);
    // Nothing has changed since: the present amount is the only point.
    const auto since = storage::orThrow(house.book().amounts({"B7", house.now + 1, {}, 10}));
    REQUIRE(since.size() == 1);
    CHECK(since.front().displayed == after);
    CHECK(storage::orThrow(house.book().amounts({"B7", {}, 1, 10})).empty());
    CHECK(storage::orThrow(house.book().amounts({"nothing", {}, {}, 10})).empty());
}

TEST_CASE("amounts within ten seconds become one point")
{
    DeskFixture house;
    house.wait(10'000 - house.now % 10'000);
    REQUIRE(house.book().catchUp(kEnough));
    const std::size_t first = storage::orThrow(house.book().amounts({"B7", {}, {}, 500})).size();
    for (int round = 1; round <= 9; ++round) {
        playOne(house, round);
        house.wait(1000);
    }
    REQUIRE(house.book().catchUp(kEnough));
    const auto rows = storage::orThrow(house.book().amounts({"B7", {}, {}, 500}));
    CHECK(rows.size() == first + 1);
    CHECK(rows.back().displayed == displayedBy(house));
}

TEST_CASE("the route of a chart refuses what it cannot draw")
{
    DeskFixture house;
    playOne(house, 1);
    REQUIRE(house.book().catchUp(kEnough));
    const Answer answer = house.get("/api/v1/pools/B7/history?points=5");
    CHECK(answer.status == 200);
    CHECK(answer.at("pool") == "B7");
    CHECK(answer.count("amounts") > 0);
    CHECK(answer.at("amounts/0/displayed").ends_with("000000"));
    CHECK(house.get("/api/v1/pools/NONE/history").status == 404);
    for (const char* bad :
         {"points=1", "points=501", "points=x", "from=yesterday", "month=2026-01"})
        CHECK(house.get(std::string{"/api/v1/pools/B7/history?"} + bad).status == 400);
}

TEST_CASE("the search index reports which kinds of entries have changed, and which have not")
{
    DeskFixture house;
    REQUIRE(house.book().catchUp(kEnough));
    const auto first = house.book().changes();
    CHECK(first.records == house.size());
    playOne(house, 1);
    REQUIRE(house.book().catchUp(kEnough));
    const auto played = house.book().changes();
    CHECK(played.records == house.size());
    CHECK(played.claims == first.claims);
    CHECK(played.notices == first.notices);
    CHECK(played.proposals == first.proposals);
    house.claim("T2", 1, {1});
    REQUIRE(house.book().catchUp(kEnough));
    CHECK(house.book().changes().claims == house.size());
    (void)house.give(rules::SuspendPool{"UTH", "r", {"Ann"}});
    REQUIRE(house.book().catchUp(kEnough));
    CHECK(house.book().changes().notices == house.size());
    const Answer made =
        house.post("/api/v1/pools/B7/adjustments", R"({"amount":"1.00","reason":"r"})", kAnn);
    CHECK(made.status == 202);
    CHECK(house.book().changes().proposals == house.size());
}

}  // namespace
}  // namespace jackpot::console
