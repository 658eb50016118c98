#include "audit/report.h"

#include <doctest/doctest.h>

#include "audit/differences.h"
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

TEST_CASE("reports are found by their names")
{
    CHECK(static_cast<bool>(reportOfName("wins")));
    CHECK(static_cast<bool>(reportOfName("reconciliation")));
    CHECK(static_cast<bool>(reportOfName("differences")));
    CHECK_FALSE(static_cast<bool>(reportOfName("")));
    CHECK_FALSE(static_cast<bool>(reportOfName("Wins")));
}

TEST_CASE("a report covers all pools or one existing pool")
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

TEST_CASE("a difference is the sum of an award's payments less what is due, also once withdrawn")
{
    using rules::Money;
    const ScratchDirectory scratch;
    constexpr TimeMs kStart = SmallJournal::kStart;
    {
        auto signer = storage::Signer::make("test.example/audit", storage::PrivateKey::generate());
        auto journal =
            storage::Journal::create({scratch.path(), 50'000, {}}, std::move(*signer), kStart);
        REQUIRE(journal);
        const auto give = [&](const rules::Command& command, TimeMs now) {
            REQUIRE_FALSE(journal->decide(command, now).refusal);
        };
        const rules::AwardRef award{"T1", 1, 1, rules::Tier::OneEachSevens};  // $50
        const rules::AwardRef none{"T2", 9, 3, rules::Tier::None};
        give(rules::ConfigureSite{rules::siteOf(rules::blazingPool(), 2)}, kStart);
        give(rules::OpenRound{"T1", 1, {{1, true, {}, {}}}}, kStart);
        give(rules::ReportResult{"T1", 1, {"7C"}, {{1, {"7H", "2S"}}}}, kStart);
        give(rules::RecordPayment{award, false, Money::ofDollars(2'000), "", {"Ann"}}, kStart);
        give(rules::RecordPayment{award, false, Money::ofDollars(-1'950), "", {"Ann"}}, kStart);
        give(rules::RecordPayment{none, true, Money::ofDollars(600), "", {"Ann"}}, kStart);
        give(rules::RecordPayment{none, true, Money::ofDollars(500), "", {"Bob"}}, kStart);
        give(rules::VoidWager{"T1", 1, 1, rules::VoidWagerGround::InvalidWager, "", {"Ann", "Bob"}},
             kStart + kDayMs);
        REQUIRE(journal->commit());
    }
    JournalView journal{{scratch.path()}};
    ReportRequest request;
    const auto all = collectDifferences(journal, request, {"B7"});
    CHECK(all.totals.payments.count == 4);
    CHECK(all.totals.smallOver.amount == Money::ofDollars(50));  // paid, then withdrawn
    REQUIRE(all.listed.size() == 1);
    CHECK(all.listed[0].amount() == Money::ofDollars(1'100));
    CHECK(all.listed[0].people() == "Bob");
}

}  // namespace jackpot::audit
