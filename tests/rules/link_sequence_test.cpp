#include "rules/link_sequence.h"

#include <doctest/doctest.h>

#include "rules/apply.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::rules {

TEST_CASE("a sequence expects the next number and finds the records of the last 32")
{
    LinkSequence sequence;
    CHECK(sequence.last() == 0);
    CHECK(sequence.expected() == 1);
    CHECK_FALSE(sequence.findRecord(0));
    CHECK_FALSE(sequence.findRecord(1));
    for (std::uint64_t number = 1; number <= 40; ++number) sequence.add(1000 + number);
    CHECK(sequence.last() == 40);
    CHECK(sequence.expected() == 41);
    CHECK_FALSE(sequence.findRecord(41));
    CHECK(sequence.findRecord(40) == 1040);
    CHECK(sequence.findRecord(9) == 1009);
    CHECK_FALSE(sequence.findRecord(8));
    CHECK_FALSE(sequence.findRecord(0));
    CHECK(LinkSequence{40, sequence.records()} == sequence);
    CHECK(LinkSequence{39, sequence.records()} != sequence);
}

TEST_CASE("a command counts once: only the expected number of its table is added")
{
    State state;
    apply(state, ConfigureSite{siteOf(blazingPool(), 2)}, 0);
    const Command first = OpenRound{"T1", 1, {}};
    CHECK(addToSequence(state, first, 1, 7));
    CHECK(state.tables[0].sequence.findRecord(1) == 7);
    CHECK(state.tables[1].sequence.last() == 0);

    const State before = state;
    CHECK(addToSequence(state, first, 1, 8).error().message ==
          "it is number 1 of table T1, after 1");
    CHECK(addToSequence(state, first, 3, 8).error().message ==
          "it is number 3 of table T1, after 1");
    CHECK_FALSE(addToSequence(state, OpenRound{"T9", 1, {}}, 1, 8));
    CHECK_FALSE(addToSequence(state, SuspendPool{"B7", "x", {"ann"}}, 1, 8));
    CHECK(state == before);
}

}  // namespace jackpot::rules
