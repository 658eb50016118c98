#include <doctest/doctest.h>

#include "rules/invariants.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::rules {

TEST_CASE("ten million wagers in a row are exact")
{
    PoolConfig config = blazingPool();
    config.increment = parseRate("0.234567").value();
    config.reserveIncrement = parseRate("0.012345").value();
    RulesFixture floor{config, 4};
    constexpr std::int64_t kWagers = 10'000'000;

    std::vector<OpenRound> rounds;
    ReportResult nobody{{}, 0, {"2C"}, {}};
    for (int table = 1; table <= 4; ++table) {
        OpenRound& round = rounds.emplace_back(OpenRound{"T" + std::to_string(table), 0, {}});
        for (int seat = 1; seat <= 5; ++seat) round.wagers.push_back({seat, true, {}, {}});
    }
    for (std::int64_t i = 0; i < kWagers / 5; ++i) {
        OpenRound& round = rounds[static_cast<std::size_t>(i % 4)];
        ++round.round;
        REQUIRE_FALSE(apply(floor.state, round, i).refusal);
        nobody.table = round.table;
        nobody.round = round.round;
        REQUIRE_FALSE(apply(floor.state, nobody, i).refusal);
    }

    // $5 times 0.234567 is 117,283,500 units; times 0.012345 it is 6,172,500.
    CHECK(floor.pool().meter == dollars("50000") + Money::ofUnits(117'283'500) * kWagers);
    CHECK(floor.pool().reserve == Money::ofUnits(6'172'500) * kWagers);
    CHECK(floor.pool().totals.contributed == Money::ofUnits(123'456'000) * kWagers);
    CHECK(checkWhole(floor.state).empty());
}

}  // namespace jackpot::rules
