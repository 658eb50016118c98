// Each invariant must catch the fault it is there for: a state or an outcome is damaged by hand,
// and this invariant, and no other, reports it.
#include "rules/invariants.h"

#include <doctest/doctest.h>

#include <array>

#include "tests/support/rules_fixture.h"

namespace jackpot::rules {
namespace {

// Two tables tied, a round open, awards due: something of everything.
RulesFixture busyFloor()
{
    PoolConfig pool = blazingPool();
    pool.opening = dollars("100000");
    pool.reserveIncrement = Rate::ofPartsPerMillion(10'000);
    RulesFixture floor{pool, 3};
    for (const char* table : {"T1", "T2"}) {
        (void)floor.open(table, 1, {1, 2});
        (void)floor.result(table, 1, {"7S"}, {{1, {"7S", "7S"}}, {2, {"7C", "KC"}}});
        (void)floor.confirm(table, 1);
        (void)floor.open(table, 2, {1});
    }
    return floor;
}

std::vector<int> breachesIn(const State& state)
{
    std::vector<int> numbers;
    for (const Invariant* invariant : allInvariants())
        if (!invariant->check({state, 0, nullptr, {}}).empty())
            numbers.push_back(invariant->number());
    return numbers;
}

template <class Damage>
std::vector<int> breachesAfter(Damage&& damage)
{
    State state = busyFloor().state;
    damage(state);
    return breachesIn(state);
}

using Numbers = std::vector<int>;

}  // namespace

TEST_CASE("a sound state breaks no invariant")
{
    CHECK(breachesIn(busyFloor().state).empty());
    CHECK(checkWhole(busyFloor().state).empty());
}

TEST_CASE("invariants are numbered and named")
{
    int number = 0;
    for (const Invariant* invariant : allInvariants()) {
        CHECK(invariant->number() == ++number);
        CHECK_FALSE(invariant->name().empty());
    }
    CHECK(number == 8);
}

TEST_CASE("1, conservation, sees a unit of 1e-8 dollar in any total")
{
    const Money unit = Money::ofUnits(1);
    const auto afterTotal = [&](auto member) {
        return breachesAfter([&](State& state) { state.pools[0].totals.*member += unit; });
    };
    CHECK(afterTotal(&Totals::seeded) == Numbers{1});
    CHECK(afterTotal(&Totals::contributed) == Numbers{1});
    CHECK(afterTotal(&Totals::returned) == Numbers{1});
    CHECK(afterTotal(&Totals::paidFromPool) == Numbers{1});
    CHECK(afterTotal(&Totals::adjusted) == Numbers{1});
    CHECK(breachesAfter([&](State& s) { s.pools[0].reserve += unit; }) == Numbers{1});
}

TEST_CASE("2, minimum at rest, sees a pool one cent below, or a reserve below nothing")
{
    RulesFixture floor{blazingPool(), 1};
    floor.state.pools[0].meter -= Money::ofUnits(1);
    floor.state.pools[0].totals.seeded -= Money::ofUnits(1);
    CHECK(breachesIn(floor.state) == Numbers{2});
    CHECK(breachesAfter([](State& s) {
              const Money moved = s.pools[0].reserve + Money::ofUnits(1);
              s.pools[0].reserve -= moved;
              s.pools[0].totals.returned += moved;
          }) == Numbers{2});
}

TEST_CASE("3, postings balance, sees a missing side and a side that the pool does not show")
{
    RulesFixture floor{blazingPool(), 1};
    const std::array before{PoolBefore{floor.pool().meter, floor.pool().reserve}};
    const Outcome good = floor.open("T1", 1, {1, 2});
    CHECK_NOTHROW(checkTouched(floor.state, good, before));

    for (std::size_t i = 0; i < good.postings.size(); ++i) {
        CAPTURE(i);
        Outcome missing = good;
        missing.postings.erase(missing.postings.begin() + static_cast<std::ptrdiff_t>(i));
        CHECK_THROWS_AS(checkTouched(floor.state, missing, before), InvariantViolation);
        Outcome wrong = good;
        wrong.postings[i].amount += Money::ofUnits(1);
        CHECK_THROWS_AS(checkTouched(floor.state, wrong, before), InvariantViolation);
    }
    Outcome elsewhere = good;
    for (Posting& posting : elsewhere.postings)
        if (posting.account == Account::Meter) posting.account = Account::Reserve;
    CHECK_THROWS_AS(checkTouched(floor.state, elsewhere, before), InvariantViolation);
}

TEST_CASE("4, paid once, sees a seat with a tier twice, in any place")
{
    const auto twice = [](std::vector<DueAward>& due) { due.push_back(due.at(0)); };
    CHECK(breachesAfter([&](State& s) { twice(s.tables[0].waiting[0].due); }) == Numbers{4});
    CHECK(breachesAfter([&](State& s) {
              s.tables[2].jackpotsDue = {{1, 1, Tier::ThreeSuitedSevens, Money::ofDollars(1), {}}};
              twice(s.tables[2].jackpotsDue);
          }) == Numbers{4});
    CHECK(breachesAfter([&](State& s) {
              s.tables[2].current.due = {{1, 1, Tier::ThreeSevens, Money::ofDollars(1), {}}};
              twice(s.tables[2].current.due);
          }) == Numbers{4});
}

TEST_CASE("5, settled once, sees a confirmation whose claim is gone, settled or there twice")
{
    CHECK(breachesAfter([](State& s) { s.tables[0].waiting[0].settled = true; }) == Numbers{5});
    CHECK(breachesAfter([](State& s) { s.tables[0].waiting.clear(); }) == Numbers{5});
    CHECK(breachesAfter([](State& s) {
              for (Seat& seat : s.tables[0].waiting[0].seats) seat.claims = false;
          }) == Numbers{5});
    CHECK(breachesAfter([](State& s) {
              Confirmation again = s.pools[0].confirmations.back();
              again.meter = s.pools[0].meter;
              again.since = Change::none(s.pools[0].config.minimum);
              s.pools[0].confirmations.push_back(again);
          }) == Numbers{5});
}

TEST_CASE("6, moments lead to now, sees a moment or a change that is off by a unit")
{
    CHECK(breachesAfter([](State& s) { s.pools[0].confirmations[0].meter += Money::ofUnits(1); }) ==
          Numbers{6});
    CHECK(breachesAfter([](State& s) { s.pools[0].confirmations[1].meter += Money::ofUnits(1); }) ==
          Numbers{6});
    CHECK(breachesAfter([](State& s) {
              s.pools[0].confirmations[1].since.sum += Money::ofUnits(1);
          }) == Numbers{6});
}

TEST_CASE("3, postings balance, sees a pool that an amendment moves or opens without a posting")
{
    RulesFixture floor{blazingPool(), 1};
    const std::array before{PoolBefore{floor.pool().meter, floor.pool().reserve}};
    Site site = siteOf(blazingPool(), 1);
    site.pools.push_back(holdemPool());
    const Outcome good = floor.give(ConfigureSite{site});
    CHECK_NOTHROW(checkTouched(floor.state, good, before));
    CHECK_THROWS_AS(checkTouched(floor.state, good, {}), InvariantViolation);

    Outcome silent = good;
    silent.postings.clear();
    CHECK_THROWS_AS(checkTouched(floor.state, silent, before), InvariantViolation);

    RulesFixture moved = floor;
    moved.state.pools[0].meter += Money::ofCents(1);
    moved.state.pools[0].totals.seeded += Money::ofCents(1);
    CHECK_THROWS_AS(checkTouched(moved.state, good, before), InvariantViolation);
}

TEST_CASE("7, parameters in force, sees a change that is late, void or against a rule")
{
    const auto pending = [](State& s) -> PoolParameters& {
        return s.pools[0].next.emplace(parametersOf(s.pools[0].config));
    };
    CHECK(breachesAfter([&](State& s) { pending(s).payoutUnit = dollars("5"); }).empty());
    CHECK(breachesAfter([&](State& s) { pending(s); }) == Numbers{7});
    CHECK(breachesAfter([&](State& s) { pending(s).minimum = dollars("20000"); }) == Numbers{7});
    CHECK(breachesAfter([](State& s) { s.pools[0].nextIsDue = true; }) == Numbers{7});
    CHECK(breachesAfter([](State& s) { s.pools[0].config.minimum = dollars("25000"); }) ==
          Numbers{7});
    CHECK(breachesAfter([](State& s) { s.pools[0].config.payoutUnit = dollars("0.001"); }) ==
          Numbers{7});

    RulesFixture floor{blazingPool(), 1};
    floor.state.pools[0].next = parametersOf(floor.pool().config);
    floor.state.pools[0].next->payoutUnit = dollars("5");
    CHECK(breachesIn(floor.state).empty());
    floor.state.pools[0].nextIsDue = true;
    CHECK(breachesIn(floor.state) == Numbers{7});
}

TEST_CASE("8, where they are, sees a pool or a table that is not found by its id")
{
    CHECK(breachesAfter([](State& s) { s.pools[0].config.id = "other"; }) == Numbers{8});
    CHECK(breachesAfter([](State& s) { s.tables[1].config.id = "other"; }) == Numbers{8});
    CHECK(breachesAfter([](State& s) { s.tables[1].config.pool = "other"; }) == Numbers{8});
    CHECK(breachesAfter([](State& s) { std::swap(s.tables[0].config, s.tables[1].config); }) ==
          Numbers{8});
}

TEST_CASE("apply stops at a breach in every build type, and says which")
{
    RulesFixture floor{blazingPool(), 1};
    floor.state.pools[0].totals.seeded += Money::ofUnits(1);
    try {
        (void)floor.open("T1", 1, {1});
        FAIL("the breach was not seen");
    } catch (const InvariantViolation& violation) {
        CHECK(std::string{violation.what()}.starts_with(
            "invariant 1 (conservation) is broken in pool B7: "));
    }
}

}  // namespace jackpot::rules
