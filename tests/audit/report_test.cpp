#include "audit/report.h"

#include <doctest/doctest.h>

#include "audit/wins.h"
#include "tests/audit/small_journal.h"

namespace jackpot::audit {
namespace {

std::vector<std::int64_t> roundsOf(const WinList& list)
{
    std::vector<std::int64_t> rounds;
    for (const Win& win : list.wins) rounds.push_back(win.award.round);
    return rounds;
}

}  // namespace

TEST_CASE("reports are known by their names")
{
    CHECK(static_cast<bool>(reportOfName("wins")));
    CHECK(static_cast<bool>(reportOfName("reconciliation")));
    CHECK(static_cast<bool>(reportOfName("differences")));
    CHECK_FALSE(static_cast<bool>(reportOfName("")));
    CHECK_FALSE(static_cast<bool>(reportOfName("Wins")));
}

TEST_CASE("a report is of all pools, or of one that there is")
{
    const SmallJournal small;
    JournalView journal{{small.scratch.path()}};
    CHECK(askedPools(journal, {}) == std::vector<std::string>{"B7"});
    ReportRequest request;
    request.pool = "B7";
    CHECK(askedPools(journal, request) == std::vector<std::string>{"B7"});
    request.pool = "UTH";
    CHECK_THROWS_WITH(askedPools(journal, request), doctest::Contains("UTH"));
}

TEST_CASE("the wins are the last of the period, oldest first, and all of them are counted")
{
    const SmallJournal small;
    JournalView journal{{small.scratch.path()}};
    ReportRequest request;
    const auto all = collectWins(journal, request, {"B7"}).at("B7");
    CHECK(all.jackpots.count == 0);
    CHECK(all.others.count == 4);
    CHECK(roundsOf(all.others) == std::vector<std::int64_t>{1, 2, 3, 4});

    request.last = 2;
    const auto last = collectWins(journal, request, {"B7"}).at("B7");
    CHECK(last.others.count == 4);
    CHECK(roundsOf(last.others) == std::vector<std::int64_t>{3, 4});

    request.period.fromMs = SmallJournal::kStart + kDayMs;
    request.period.toMs = SmallJournal::kStart + 3 * kDayMs;
    const auto some = collectWins(journal, request, {"B7"}).at("B7");
    CHECK(some.others.count == 2);
    CHECK(roundsOf(some.others) == std::vector<std::int64_t>{2, 3});
}

}  // namespace jackpot::audit
