#include "audit/journal_view.h"

#include <doctest/doctest.h>

#include "tests/audit/small_journal.h"

namespace jackpot::audit {

TEST_CASE("the records of several files are read as one sequence, in the order of their numbers")
{
    const SmallJournal small;
    JournalView journal{{small.scratch.path()}};
    CHECK(journal.files().size() == 2);
    CHECK(journal.first() == 0);
    CHECK(journal.end() == small.size);
    std::uint64_t next = 0;
    journal.forEach(0, journal.end(), [&](std::uint64_t seq, std::string_view payload) {
        CHECK(seq == next);
        CHECK(payload == journal.payload(seq));
        ++next;
        return true;
    });
    CHECK(next == small.size);
    std::uint64_t visited = 0;
    journal.forEach(0, journal.end(),
                    [&](std::uint64_t, std::string_view) { return ++visited < 3; });
    CHECK(visited == 3);
    CHECK_THROWS(journal.payload(small.size));
}

TEST_CASE("files may be given in any order, and without the last the view ends earlier")
{
    const SmallJournal small;
    const auto files = JournalView{{small.scratch.path()}}.files();
    REQUIRE(files.size() == 2);
    CHECK(JournalView{{files[1], files[0]}}.end() == small.size);
    const JournalView archive{{files[0]}};
    CHECK(archive.first() == 0);
    CHECK(archive.end() < small.size);
    const JournalView last{{files[1]}};
    CHECK(last.first() == archive.end());
    CHECK(last.end() == small.size);
    CHECK_THROWS(JournalView{{small.scratch / "nothing"}});
}

TEST_CASE(
    "the first record at or after a time is found, also for times before the first and after the "
    "last record")
{
    const SmallJournal small;
    JournalView journal{{small.scratch.path()}};
    CHECK(journal.firstNotBefore(0) == 0);
    CHECK(journal.firstNotBefore(SmallJournal::kStart + SmallJournal::kDays * kDayMs) ==
          journal.end());
    const std::uint64_t third = journal.firstNotBefore(SmallJournal::kStart + 2 * kDayMs);
    CHECK(journal.payload(third).find(R"("round":3)") != std::string::npos);
    CHECK(journal.payload(third - 1).find(R"("round":3)") == std::string::npos);
}

TEST_CASE("the nearest snapshot is not after the record, and the first state is empty")
{
    const SmallJournal small;
    JournalView journal{{small.scratch.path()}};
    const auto first = journal.startBefore(0);
    CHECK(first.seq == 0);
    CHECK(first.state.pools.empty());
    const auto last = journal.startBefore(journal.end() - 1);
    CHECK(last.seq < journal.end());
    CHECK(last.seq > 0);
    CHECK(last.state.pools.size() == 1);
}

}  // namespace jackpot::audit
