// A journal of two files: a site of one pool and two tables, and one round per day that wins $50.
#pragma once

#include <doctest/doctest.h>

#include "base/iso_time.h"
#include "storage/journal.h"
#include "tests/support/rules_fixture.h"
#include "tests/support/scratch.h"

namespace jackpot::audit {

struct SmallJournal {
    static constexpr TimeMs kStart = 1'777'593'600'000;  // 2026-05-01T00:00:00Z
    static constexpr int kDays = 4;

    ScratchDirectory scratch;
    rules::State state;  // after the last record
    std::uint64_t size = 0;

    SmallJournal()
    {
        auto signer = storage::Signer::make("test.example/audit", storage::PrivateKey::generate());
        auto journal =
            storage::Journal::create({scratch.path(), 50'000, {}}, std::move(*signer), kStart);
        REQUIRE(journal);
        decide(*journal, rules::ConfigureSite{rules::siteOf(rules::blazingPool(), 2)}, kStart);
        for (int day = 0; day < kDays; ++day) {
            playRound(*journal, day + 1, kStart + day * kDayMs + 1000);
            REQUIRE(journal->commit());
            if (day == 1) {
                REQUIRE(journal->closeSegment(kStart + day * kDayMs + 2000));
                REQUIRE(journal->commit());
            }
        }
        state = journal->state();
        size = journal->size();
    }

private:
    static void decide(storage::Journal& journal, const rules::Command& command, TimeMs now)
    {
        REQUIRE_FALSE(journal.decide(command, now).refusal);
    }

    static void playRound(storage::Journal& journal, std::int64_t round, TimeMs now)
    {
        decide(journal, rules::OpenRound{"T1", round, {{1, true, {}, {}}, {2, true, {}, {}}}}, now);
        decide(journal, rules::ReportResult{"T1", round, {"7C"}, {{1, {"7H", "2S"}}}}, now);
    }
};

}  // namespace jackpot::audit
