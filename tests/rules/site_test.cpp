#include <doctest/doctest.h>

#include "tests/support/rules_fixture.h"

namespace jackpot::rules {
namespace {

// "pool 0 minimum BJ 14.28" for each error, in order.
std::vector<std::string> errorsOf(const Site& site)
{
    std::vector<std::string> lines;
    for (const ConfigError& error : validate(site)) {
        CHECK_FALSE(error.message.empty());
        lines.push_back((error.of == ConfigError::Of::Pool ? "pool " : "table ") +
                        std::to_string(error.index) + " " + std::string{error.field} +
                        (error.rule.empty() ? "" : " " + std::string{error.rule}));
    }
    return lines;
}

using Lines = std::vector<std::string>;

template <class Change>
Lines errorsAfter(PoolConfig pool, Change&& change)
{
    Site site = siteOf(std::move(pool), 1);
    change(site.pools[0], site.tables[0]);
    return errorsOf(site);
}

}  // namespace

TEST_CASE("a site that keeps the rules has no errors")
{
    CHECK(errorsOf(siteOf(blazingPool(), 3)).empty());
    CHECK(errorsOf(siteOf(holdemPool(), 3)).empty());
    CHECK(errorsOf(Site{}).empty());
}

TEST_CASE("each broken rule of a pool is named")
{
    using P = PoolConfig;
    using T = TableConfig;
    const auto blazing = [](auto change) { return errorsAfter(blazingPool(), change); };
    const auto holdem = [](auto change) { return errorsAfter(holdemPool(), change); };

    CHECK(blazing([](P& p, T&) { p.wager = Money::ofDollars(10); }) ==
          Lines{"pool 0 wager BJ 14.24"});
    CHECK(blazing([](P& p, T&) { p.minimum = Money::ofDollars(30'000); }) ==
          Lines{"pool 0 minimum BJ 14.28"});
    CHECK(blazing([](P& p, T&) { p.opening = Money::ofDollars(49'999); }) ==
          Lines{"pool 0 opening BJ 14.28"});
    CHECK(blazing([](P& p, T&) { p.cap = Money::ofDollars(49'999); }) == Lines{"pool 0 cap"});
    CHECK(blazing([](P& p, T&) { p.payoutUnit = Money::ofUnits(1); }) ==
          Lines{"pool 0 payout_unit BJ 5.12"});
    CHECK(blazing([](P& p, T&) { p.payoutUnit = Money{}; }) == Lines{"pool 0 payout_unit BJ 5.12"});
    CHECK(blazing([](P& p, T&) { p.simultaneityWindowMs = -1; }) ==
          Lines{"pool 0 simultaneity_window_ms BJ 14.27.4"});
    CHECK(blazing([](P& p, T&) {
              p.bonus = TierAmounts{Money::ofDollars(1), {}};
          }) == Lines{"pool 0 bonus BJ 14.24"});
    CHECK(blazing([](P& p, T&) { p.reserveIncrement = Rate::ofPartsPerMillion(800'001); }) ==
          Lines{"pool 0 reserve_increment"});
    CHECK(blazing([](P& p, T&) { p.increment = Rate::ofPartsPerMillion(-1); }) ==
          Lines{"pool 0 increment"});
    CHECK(blazing([](P& p, T&) { p.opening = kMaxAmount + Money::ofUnits(1); }) ==
          Lines{"pool 0 opening"});

    CHECK(holdem([](P& p, T&) { p.wager = Money{}; }) == Lines{"pool 0 wager UTH 15.2.3"});
    CHECK(holdem([](P& p, T&) { p.wager = Money::ofUnits(1); }) ==
          Lines{"pool 0 wager UTH 15.2.3"});
    CHECK(blazing([](P& p, T&) { p.simultaneityWindowMs = 10'001; }) ==
          Lines{"pool 0 settle_after_ms BJ 14.27.4"});
    CHECK(blazing([](P& p, T&) { p.settleAfterMs = 1'999; }) ==
          Lines{"pool 0 settle_after_ms BJ 14.27.4"});
    CHECK(blazing([](P& p, T&) {
              p.guarantee = TierAmounts{Money::ofDollars(50'000), {}};
          }) == Lines{"pool 0 guarantee BJ 14.28"});

    CHECK(holdem([](P& p, T&) { p.settleAfterMs = 0; }) ==
          Lines{"pool 0 settle_after_ms UTH 15.2.13"});
    CHECK(holdem([](P& p, T&) { p.minimum = Money{}; }) == Lines{"pool 0 minimum BJ 14.28"});
    CHECK(holdem([](P& p, T&) {
              p.guarantee = TierAmounts{Money::ofCents(4'999'999), Money::ofCents(499'999)};
          }) == Lines{"pool 0 guarantee.royal_flush UTH 15.2.9",
                      "pool 0 guarantee.straight_flush UTH 15.2.9"});
    CHECK(holdem([](P& p, T&) { p.guarantee = TierAmounts{}; }) ==
          Lines{"pool 0 guarantee UTH 15.2.13"});
    CHECK(holdem([](P& p, T&) { p.simultaneityWindowMs = 0; }) ==
          Lines{"pool 0 simultaneity_window_ms UTH 15.2.13"});
    CHECK(holdem([](P& p, T&) { p.minimum = Money::ofUnits(1); }) ==
          Lines{"pool 0 minimum BJ 14.28"});
    CHECK(holdem([](P& p, T&) { p.bonus = TierAmounts{}; }) == Lines{"pool 0 bonus UTH 15.2.10"});
    CHECK(holdem([](P& p, T&) {
              p.bonus = TierAmounts{{}, Money::ofCents(-1)};
          }) == Lines{"pool 0 bonus.straight_flush UTH 15.2.11"});
}

TEST_CASE("a window of 0 is only for a pool with one table (BJ 14.27.4)")
{
    PoolConfig pool = blazingPool();
    pool.simultaneityWindowMs = 0;
    pool.settleAfterMs = 0;
    CHECK(errorsOf(siteOf(pool, 1)).empty());
    CHECK(errorsOf(siteOf(pool, 2)) == Lines{"pool 0 simultaneity_window_ms BJ 14.27.4"});
}

TEST_CASE("each broken rule of a table is named")
{
    using P = PoolConfig;
    using T = TableConfig;
    const auto blazing = [](auto change) { return errorsAfter(blazingPool(), change); };
    CHECK(blazing([](P&, T& t) { t.seats = 4; }) == Lines{"table 0 seats BJ 2.2.1"});
    CHECK(blazing([](P&, T& t) { t.seats = 10; }) == Lines{"table 0 seats BJ 2.2.1"});
    CHECK(blazing([](P&, T& t) { t.wager = Money::ofCents(250); }) ==
          Lines{"table 0 wager BJ 14.26.3"});
    CHECK(blazing([](P&, T& t) { t.decks = 8; }) == Lines{"table 0 decks BJ 3.1.1"});
    CHECK(blazing([](P&, T& t) { t.shufflingDevice = false; }) ==
          Lines{"table 0 shuffling_device BJ 2.3.4.3"});
    CHECK(blazing([](P&, T& t) { t.pool = "other"; }) == Lines{"table 0 pool UTH 15.1.2.2"});
    CHECK(blazing([](P&, T& t) { t.id.clear(); }) == Lines{"table 0 id"});
    CHECK(errorsAfter(holdemPool(), [](P&, T& t) { t.seats = 0; }) ==
          Lines{"table 0 seats UTH 2.2.1"});
    CHECK(errorsAfter(holdemPool(), [](P&, T& t) { t.seats = 1; }).empty());
    CHECK(errorsAfter(holdemPool(), [](P&, T& t) { t.decks = 6; }) ==
          Lines{"table 0 decks UTH 3.1"});
}

TEST_CASE("a table is linked to one pool, and all errors come at once (UTH 15.1.2.2)")
{
    Site site = siteOf(blazingPool(), 2);
    site.pools.push_back(holdemPool());
    site.tables[1].id = "T1";
    site.tables[1].pool = "UTH";
    site.pools[0].minimum = Money::ofDollars(1);
    site.pools[1].wager = Money::ofDollars(-5);
    CHECK(errorsOf(site) ==
          Lines{"pool 0 minimum BJ 14.28", "pool 1 wager UTH 15.2.3", "table 1 id UTH 15.1.2.2"});
}

TEST_CASE("a site with an error cannot be configured, and a configured one again as it is")
{
    State state;
    Site broken = siteOf(blazingPool(), 1);
    broken.pools[0].wager = Money::ofDollars(1);
    const Outcome refused = apply(state, ConfigureSite{broken}, 0);
    CHECK(codeOf(refused) == "bad_configuration");
    CHECK(refused.refusal->rule == "BJ 14.24");
    CHECK(state == State{});

    CHECK(codeOf(apply(state, ConfigureSite{siteOf(blazingPool(), 1)}, 0)).empty());
    const State before = state;
    const Outcome again = apply(state, ConfigureSite{siteOf(blazingPool(), 1)}, 0);
    CHECK(again == Outcome{});
    CHECK(state == before);
}

}  // namespace jackpot::rules
