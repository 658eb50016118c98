// A journal that is read in several pieces by several threads: what is wrong is named all the same,
// and of several things that are wrong the one that concerns the first record.
#include <doctest/doctest.h>

#include <array>

#include "tests/storage/tamper_journal.h"

namespace jackpot::storage::tamper {
namespace {

constexpr std::uint64_t kLong = 7000;
// A verifier reads in pieces of 2048 records; what is done here does not depend on it being so, but
// is most likely to go wrong at the ends of the pieces.
constexpr std::int64_t kPiece = 2048;

const Original& longJournal()
{
    static const Original made = [] {
        const MemoryDirectory directory;
        {
            auto journal =
                Journal::create({directory / "journal", 3000, {}}, signerOf(kFirstKey), 1);
            REQUIRE(journal);
            Night night{*journal, 61};
            night.everyKind(0);
            night.quiet(kLong);
            night.commit();
        }
        const std::filesystem::path file = directory / "journal/journal.db";
        const Specimen specimen{file, bytesOf(file)};
        specimen.edit("PRAGMA journal_mode=DELETE; VACUUM");
        const auto verdict = specimen.verify();
        REQUIRE_MESSAGE(verdict, inWords(verdict));
        return Original{bytesOf(file), contentsOf(file), *verdict};
    }();
    return made;
}

std::vector<std::int64_t> tellingRecords()
{
    std::vector<std::int64_t> chosen{0, 1, 255, 256, 6999};
    for (std::int64_t end = kPiece; end < static_cast<std::int64_t>(kLong); end += kPiece)
        for (const std::int64_t seq : {end - 2, end - 1, end, end + 1}) chosen.push_back(seq);
    return chosen;
}

constexpr std::array kThreads{1U, 2U, 5U};

struct Long {
    MemoryDirectory directory;
    Specimen specimen{directory / "journal.db", longJournal().bytes};

    ~Long()
    {
        specimen.restore();
        const auto verdict = specimen.verify();
        CHECK_MESSAGE(verdict, inWords(verdict));
    }

    // On each number of threads, and the same on all.
    void mustDetect(Family& family, VerifyOptions options, const Family::At& right,
                    const Family::Which& which) const
    {
        options.threads = kThreads.front();
        const auto first = specimen.verify(options);
        for (const unsigned threads : kThreads) {
            options.threads = threads;
            const auto verdict = specimen.verify(options);
            family.mustDetect(verdict, right, which);
            if (!first && !verdict) CHECK(first.error() == verdict.error());
        }
    }
};

std::string damageSignature(std::int64_t size)
{
    return "UPDATE checkpoint SET note=replace(note, 'site ', 'sine ') WHERE size=" +
           std::to_string(size) + ";";
}

std::string damagePayload(std::int64_t seq)
{
    return "UPDATE journal SET payload=replace(payload, '\"time\":', '\"time\":9') WHERE seq=" +
           std::to_string(seq) + ";";
}

}  // namespace

TEST_CASE("records changed and deleted at the ends of what is read at a time")
{
    const Long journal;
    Family family{"records changed and deleted in a long journal, on 1, 2 and 5 threads"};
    for (const std::int64_t seq : tellingRecords()) {
        const auto which = [&] { return "record " + std::to_string(seq); };
        journal.specimen.restore();
        journal.specimen.edit("DELETE FROM journal WHERE seq=" + std::to_string(seq));
        journal.mustDetect(family, withoutSignatures(),
                           seq == 0 ? oneOf({std::nullopt, 0}) : oneOf({seqOf(seq)}), which);
        journal.specimen.restore();
        journal.specimen.edit("UPDATE journal SET payload=payload||' ' WHERE seq=" +
                              std::to_string(seq));
        journal.mustDetect(family, treeOnly(),
                           between(seqOf(seq), shownBy(seqOf(seq), longJournal().contents)), which);
    }
    family.expect(2 * kThreads.size() * tellingRecords().size());
}

TEST_CASE("of several faults the first record's is named")
{
    const Long journal;
    Family family{"two faults in a long journal, on 1, 2 and 5 threads"};
    const auto& notes = longJournal().contents.notes;
    std::vector<std::int64_t> sizes;
    for (const auto& [size, note] : notes)
        if (sizes.empty() || size > sizes.back() + 1000) sizes.push_back(size);
    REQUIRE(sizes.size() >= 6);
    std::uint64_t cases = 0;
    for (std::size_t a = 0; a < sizes.size(); ++a)
        for (std::size_t b = a + 1; b < sizes.size(); ++b) {
            const auto which = [&] {
                return std::to_string(sizes[a]) + " and " + std::to_string(sizes[b]);
            };
            // A signature is checked after all that is recomputed, and perhaps by another thread.
            const auto tryIt = [&](const std::string& sql, const Family::At& right) {
                journal.specimen.restore();
                journal.specimen.edit(sql);
                journal.mustDetect(family, everything(), right, which);
                cases += kThreads.size();
            };
            tryIt(damageSignature(sizes[a]) + damageSignature(sizes[b]),
                  oneOf({seqOf(sizes[a]) - 1}));
            tryIt(damageSignature(sizes[a]) + damagePayload(sizes[b]),
                  oneOf({seqOf(sizes[a]) - 1}));
            tryIt(damagePayload(sizes[a]) + damageSignature(sizes[b]),
                  between(seqOf(sizes[a]), shownBy(seqOf(sizes[a]), longJournal().contents)));
        }
    family.expect(3 * kThreads.size() * sizes.size() * (sizes.size() - 1) / 2);
    CHECK(cases == family.tried());
}

}  // namespace jackpot::storage::tamper
