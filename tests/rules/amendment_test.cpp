// Changes to a site in play: parameters that two people agreed on, and amendments.
#include "rules/amendment.h"

#include <doctest/doctest.h>

#include "rules/invariants.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::rules {
namespace {

constexpr auto kInForce = ParametersState::InForce;

// As blazingPool(), but a minimum of $25,000 and 10 % to the meter.
PoolParameters lower()
{
    PoolParameters to = parametersOf(blazingPool());
    to.minimum = dollars("25000");
    to.increment = Rate::ofPartsPerMillion(100'000);
    return to;
}

PoolParameters higher()
{
    PoolParameters to = parametersOf(holdemPool());
    to.minimum = dollars("75000");
    return to;
}

Outcome agree(RulesFixture& floor, const PoolParameters& to)
{
    return floor.give(ChangePool{floor.pool().config.id, to, "board", {"a", "b"}});
}

Outcome adjust(RulesFixture& floor, std::string_view amount)
{
    return floor.give(AdjustPool{floor.pool().config.id, dollars(amount), "count", {"a", "b"}});
}

// All of the pool is won at T1, due and paid: a reset, and no win is open after it.
Outcome winAll(RulesFixture& floor, std::int64_t round)
{
    const bool holdem = floor.pool().config.game == Game::UltimateTexasHoldem;
    if (holdem) {
        (void)floor.open("T1", round, {1});
        (void)floor.result("T1", round, {"QS", "JS", "TS"}, {{1, {"AS", "KS"}}});
    } else {
        floor.claim("T1", round, "7D");
    }
    CHECK(codeOf(floor.confirm("T1", round)).empty());
    (void)floor.wait(floor.pool().config.waitMs());
    return floor.pay("T1", round, 1, holdem ? Tier::RoyalFlush : Tier::ThreeSevensDiamonds, "1");
}

bool isInForce(const Outcome& outcome)
{
    return outcome.parameters && outcome.parameters->state == kInForce;
}

}  // namespace

TEST_CASE("a change of parameters needs a pool, two people, a reason and a lawful set")
{
    RulesFixture floor{blazingPool(), 1};
    const State before = floor.state;
    const auto refused = [&](ChangePool command) {
        const Outcome outcome = floor.give(command);
        CHECK(floor.state == before);
        REQUIRE(outcome.refusal);
        return codeOf(outcome) + " " + std::string{outcome.refusal->rule};
    };
    const std::vector<std::string> two{"a", "b"};
    CHECK(refused({"X", lower(), "r", two}) == "unknown_pool ");
    CHECK(refused({"B7", lower(), "r", {"a", "a", ""}}) == "needs_two_people ");
    CHECK(refused({"B7", lower(), "", two}) == "needs_reason ");
    const auto refusedWith = [&](auto&& change) {
        PoolParameters to = lower();
        change(to);
        return refused({"B7", to, "r", two});
    };
    CHECK(refusedWith([](auto& to) { to.minimum = dollars("20000"); }) ==
          "bad_configuration BJ 14.28");
    CHECK(refusedWith([](auto& to) { to.payoutUnit = {}; }) == "bad_configuration BJ 5.12");
    CHECK(refusedWith([](auto& to) { to.simultaneityWindowMs = -1; }) ==
          "bad_configuration BJ 14.27.4");
    CHECK(refusedWith([](auto& to) { to.bonus.emplace(); }) == "bad_configuration BJ 14.24");
    CHECK(refusedWith([](auto& to) { to.cap = dollars("24999.99"); }) == "bad_configuration ");
    CHECK(refusedWith([](auto& to) { to.reserveIncrement = Rate::ofPartsPerMillion(900'001); }) ==
          "bad_configuration ");
}

TEST_CASE("a change waits for the reset: till then the old parameters hold (BJ 14.28)")
{
    RulesFixture floor{blazingPool(), 1};
    const Outcome agreed = agree(floor, lower());
    REQUIRE(agreed.parameters);
    CHECK(agreed.parameters->state == ParametersState::Agreed);
    CHECK(agreed.postings.empty());
    CHECK(floor.pool().next == lower());

    floor.play("T1", 1, {1});
    CHECK(floor.pool().meter == dollars("50001"));
    CHECK_FALSE(isInForce(adjust(floor, "-1")));  // exactly the minimum is no reset
    CHECK(floor.pool().next);

    const Outcome reset = winAll(floor, 2);
    REQUIRE(isInForce(reset));
    CHECK(reset.parameters->from == parametersOf(blazingPool()));
    CHECK(reset.parameters->to == lower());
    CHECK(reset.notices.size() == 1);
    CHECK_FALSE(floor.pool().next);
    // A lower minimum takes nothing out: the reset was to the old one.
    CHECK(floor.pool().meter == dollars("50000"));
    CHECK(floor.pool().config.minimum == dollars("25000"));
    CHECK(findRow(floor.pool().payTable, Tier::ThreeSevensDiamonds)->guarantee == dollars("25000"));

    floor.play("T1", 3, {1});
    CHECK(floor.pool().meter == dollars("50000.50"));
    CHECK(codeOf(adjust(floor, "-25000")).empty());
    CHECK(codeOf(adjust(floor, "-1")) == "below_minimum");
}

TEST_CASE("a higher minimum is paid in by the reserve, then by the house, with postings")
{
    PoolConfig config = holdemPool();
    config.reserveIncrement = Rate::ofPartsPerMillion(500'000);
    RulesFixture floor{config, 1};
    PoolParameters to = higher();
    to.reserveIncrement = config.reserveIncrement;
    (void)agree(floor, to);
    REQUIRE(isInForce(winAll(floor, 1)));
    CHECK(floor.pool().meter == dollars("75000"));
    CHECK(floor.pool().reserve == Money{});
    CHECK(floor.pool().totals.fromReserve == dollars("2.5"));
    CHECK(floor.pool().totals.seeded == dollars("50000") + dollars("74997.495"));
}

TEST_CASE("while a win of the pool is open, a reset brings no change into force")
{
    RulesFixture floor{blazingPool(), 2};
    (void)agree(floor, lower());
    floor.claim("T1", 1, "7D");
    CHECK_FALSE(isInForce(floor.confirm("T1", 1)));
    CHECK(floor.pool().nextIsDue);
    const auto due = floor.wait(kDefaultSettleAfterMs);
    REQUIRE(due.size() == 1);
    CHECK_FALSE(isInForce(due[0]));
    // The guarantee is that of the parameters the jackpot was confirmed under.
    CHECK(due[0].awards.at(0).amount == dollars("50001"));
    CHECK(isInForce(floor.wait(kFinalAfterMs).at(0)));
    CHECK(floor.pool().config.minimum == dollars("25000"));
}

TEST_CASE("a void that leaves no win open brings a change into force that was due")
{
    RulesFixture floor{blazingPool(), 1};
    (void)agree(floor, lower());
    floor.claim("T1", 1, "7D");
    (void)floor.confirm("T1", 1);
    CHECK(isInForce(floor.give(VoidRound{"T1", 1, {}, {}, "misdeal", {"s1", "s2"}})));
}

TEST_CASE("a win that was locked before the agreement brings no change into force")
{
    RulesFixture floor{blazingPool(), 1};
    floor.claim("T1", 1, "7D");
    (void)floor.confirm("T1", 1);
    (void)agree(floor, lower());
    (void)floor.wait(kDefaultSettleAfterMs);
    CHECK_FALSE(isInForce(floor.pay("T1", 1, 1, Tier::ThreeSevensDiamonds, "1")));
    CHECK(floor.pool().next);
}

TEST_CASE("a tenth that leaves the minimum alone is no reset")
{
    PoolConfig config = blazingPool();
    config.opening = dollars("100000");
    RulesFixture floor{config, 1};
    (void)agree(floor, lower());
    floor.claim("T1", 1, "7S");
    (void)floor.confirm("T1", 1);
    (void)floor.wait(kDefaultSettleAfterMs);
    CHECK_FALSE(isInForce(floor.pay("T1", 1, 1, Tier::ThreeSuitedSevens, "1")));
    CHECK(floor.pool().next);
}

TEST_CASE("another change takes the place of the first and waits for a reset of its own")
{
    RulesFixture floor{blazingPool(), 1};
    (void)agree(floor, lower());
    floor.claim("T1", 1, "7D");
    (void)floor.confirm("T1", 1);
    PoolParameters other = lower();
    other.minimum = dollars("10000");
    (void)agree(floor, other);
    CHECK(floor.pool().next == other);
    CHECK_FALSE(floor.pool().nextIsDue);
    CHECK_FALSE(isInForce(floor.give(VoidRound{"T1", 1, {}, {}, "", {"s1", "s2"}})));
    CHECK(isInForce(winAll(floor, 2)));
    CHECK(floor.pool().config.minimum == dollars("10000"));
}

TEST_CASE("the present values take a change back, and without one do nothing")
{
    RulesFixture floor{blazingPool(), 1};
    const State before = floor.state;
    CHECK(agree(floor, parametersOf(blazingPool())).parameters == std::nullopt);
    CHECK(floor.state == before);
    (void)agree(floor, lower());
    PoolParameters present = blazingPool();  // the default window is not named
    const Outcome back = agree(floor, present);
    REQUIRE(back.parameters);
    CHECK(back.parameters->state == ParametersState::TakenBack);
    CHECK(back.parameters->to == lower());
    CHECK(floor.state == before);
}

TEST_CASE("above a new, lower cap the meter stays and contributions go to the reserve")
{
    RulesFixture floor{holdemPool(), 1};
    PoolParameters to = higher();
    to.minimum = dollars("10000");
    to.cap = dollars("20000");
    (void)agree(floor, to);
    CHECK(isInForce(winAll(floor, 1)));
    (void)floor.open("T1", 2, {1});
    CHECK(floor.pool().meter == dollars("50000"));
    CHECK(floor.pool().reserve == dollars("1.175"));
}

TEST_CASE("wagers taken before a change are returned as they were posted")
{
    RulesFixture floor{blazingPool(), 2};
    (void)agree(floor, lower());
    (void)floor.open("T2", 1, {1, 2});
    CHECK(isInForce(winAll(floor, 1)));
    CHECK(floor.pool().config.minimum == dollars("25000"));
    (void)floor.give(VoidRound{"T2", 1, {}, {}, "misdeal", {"s"}});
    CHECK(floor.pool().meter == dollars("49998"));
    CHECK(floor.pool().totals.returned == dollars("2"));
}

TEST_CASE("a change needs room in the books, taking it back does not")
{
    RulesFixture floor{holdemPool(), 1};
    PoolParameters to = higher();
    to.minimum = kMaxAmount;
    (void)agree(floor, to);
    for (int i = 0; i < 2; ++i)
        (void)floor.give(AdjustPool{"UTH", kMaxAmount, "absurd", {"a", "b"}});
    CHECK(codeOf(agree(floor, to)) == "out_of_range");
    CHECK(codeOf(agree(floor, holdemPool())).empty());
    CHECK_FALSE(floor.pool().next);
}

TEST_CASE("an amendment adds pools and tables and leaves every index as it was")
{
    RulesFixture floor{blazingPool(), 2};
    (void)floor.open("T1", 1, {1});
    const State before = floor.state;
    Site site = siteOf(floor.state);
    site.pools.insert(site.pools.begin(), holdemPool());
    site.pools[0].opening = dollars("60000");
    site.tables.insert(site.tables.begin(), linkedTable("U1", "UTH"));
    std::ranges::reverse(site.tables);
    const Outcome outcome = floor.give(ConfigureSite{site});
    REQUIRE(codeOf(outcome).empty());
    REQUIRE(outcome.amendment);
    CHECK(*outcome.amendment == Amendment{{1}, {2}, {}});
    CHECK(floor.state.findPool("B7") == 0U);
    CHECK(floor.state.findTable("T2") == 1U);
    CHECK(floor.state.findTable("U1") == 2U);
    CHECK(floor.state.tables[0] == before.tables[0]);
    CHECK(floor.state.pools[0] == before.pools[0]);
    CHECK(floor.state.pools[1].meter == dollars("60000"));
    CHECK(codeOf(floor.open("U1", 1, {1})).empty());
    CHECK(checkWhole(floor.state).empty());
}

TEST_CASE("an amendment cannot change what only two people may, and says what")
{
    RulesFixture floor{blazingPool(), 1};
    const State before = floor.state;
    const auto refused = [&](auto&& change) {
        Site site = siteOf(before);
        site.tables.push_back(linkedTable("new", "B7"));
        change(site);
        const Outcome outcome = floor.give(ConfigureSite{site});
        CHECK(floor.state == before);
        CHECK(codeOf(outcome) == "bad_configuration");
        return outcome.refusal->detail;
    };
    CHECK(refused([](Site& s) { s.pools[0].increment = {}; }) ==
          "pool B7's increment changes only by a command of two people");
    CHECK(refused([](Site& s) {
              s.pools[0].reserveIncrement = Rate::ofPartsPerMillion(1);
          }).starts_with("pool B7's reserve_increment"));
    CHECK(refused([](Site& s) {
              s.pools[0].minimum = dollars("25000");
          }).starts_with("pool B7's minimum"));
    CHECK(refused([](Site& s) { s.pools[0].cap = dollars("99999"); }).starts_with("pool B7's cap"));
    CHECK(refused([](Site& s) {
              s.pools[0].payoutUnit = dollars("5");
          }).starts_with("pool B7's payout_unit"));
    CHECK(refused([](Site& s) {
              s.pools[0].simultaneityWindowMs = 1;
          }).starts_with("pool B7's simultaneity_window_ms"));
    CHECK(refused([](Site& s) {
              s.pools[0].settleAfterMs = 5000;
          }).starts_with("pool B7's settle_after_ms"));
    CHECK(refused([](Site& s) {
              s.pools[0].wager = dollars("2.50");
          }).starts_with("pool B7 has one game"));
    CHECK(refused([](Site& s) {
              s.pools[0].game = Game::UltimateTexasHoldem;
          }).starts_with("pool B7 has one game"));
    CHECK(refused([](Site& s) {
              s.pools[0].id = "B8";
              for (TableConfig& table : s.tables) table.pool = "B8";
          }).starts_with("pool B7 is missing"));
    CHECK(refused([](Site& s) {
              s.tables.erase(s.tables.begin());
          }).starts_with("table T1 is missing"));
    CHECK(refused([](Site& s) {
              s.pools.push_back(blazingPool("B8"));
              s.tables[0].pool = "B8";
          }) == "table T1 is linked to pool B7 for good");
    CHECK(refused([](Site& s) { s.tables[1].seats = 4; }).starts_with("4 seats"));
}

TEST_CASE("an amendment may name the parameters as they are or as they are agreed")
{
    RulesFixture floor{blazingPool(), 1};
    (void)agree(floor, lower());
    Site site = siteOf(floor.state);
    CHECK(codeOf(floor.give(ConfigureSite{site})).empty());
    site.pools[0] = withParameters(site.pools[0], lower());
    const State before = floor.state;
    CHECK(floor.give(ConfigureSite{site}) == Outcome{});
    CHECK(floor.state == before);
    site.pools[0].increment = blazingPool().increment;  // of both something
    CHECK(codeOf(floor.give(ConfigureSite{site})) == "bad_configuration");
}

TEST_CASE("the opening amount of a pool in play is ignored, also against its cap of today")
{
    PoolConfig config = blazingPool();
    config.opening = dollars("500000");
    RulesFixture floor{config, 1};
    PoolParameters to = lower();
    to.cap = dollars("90000");
    (void)agree(floor, to);
    (void)winAll(floor, 1);
    REQUIRE(floor.pool().config.cap == to.cap);
    Site site = siteOf(floor.state);
    site.pools[0].opening = config.opening;
    CHECK(floor.give(ConfigureSite{site}) == Outcome{});
}

TEST_CASE("a table changes between rounds, when no jackpot of it is claimed or locked")
{
    RulesFixture floor{blazingPool(), 1};
    const auto change = [&](std::int64_t seats) {
        Site site = siteOf(floor.state);
        site.tables[0].seats = seats;
        return floor.give(ConfigureSite{site});
    };
    CHECK(change(5).amendment == Amendment{{}, {}, {0}});
    CHECK(codeOf(floor.open("T1", 1, {6})) == "seat_out_of_range");

    (void)floor.open("T1", 1, {1});
    const Outcome open = change(9);
    CHECK(codeOf(open) == "bad_configuration");
    CHECK(open.refusal->detail.starts_with("table T1 has a round without a result"));
    (void)floor.result("T1", 1, {"7S"}, {{1, {"7S", "7S"}}});
    CHECK(change(9).refusal->detail.starts_with("table T1 has a jackpot"));
    (void)floor.confirm("T1", 1);
    CHECK(codeOf(change(9)) == "bad_configuration");
    (void)floor.open("T1", 2, {1});
    (void)floor.result("T1", 2, {"2C"}, {});
    CHECK(codeOf(change(9)) == "bad_configuration");  // the win of an earlier round is locked
    (void)floor.wait(floor.pool().config.waitMs());
    CHECK(floor.pool().wins.at(0).due);
    CHECK(codeOf(change(9)).empty());
    CHECK(codeOf(floor.open("T1", 3, {9})).empty());
    (void)floor.give(SuspendTable{"T1", {}, {}, "fault", {"g"}});
    CHECK(codeOf(change(5)).empty());
}

}  // namespace jackpot::rules
