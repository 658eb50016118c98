// Write-ahead logs and rollback journals that belong to another state of the file, or to another
// file.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "tests/storage/tamper_journal.h"

namespace jackpot::storage::tamper {
namespace {

namespace fs = std::filesystem;

struct Moment {
    std::string file;
    std::string log;
    Contents contents;
    std::string note;
};

// The files as they were after each commit of a journal that is closed and opened again half-way,
// which moves its log into the file. Without a log each file is one of these moments too.
std::vector<Moment> momentsOf(int variant)
{
    const MemoryDirectory directory;
    const fs::path file = directory / "journal/journal.db";
    std::vector<Moment> moments;
    const auto take = [&](const Journal& journal) {
        moments.push_back({bytesOf(file), bytesOf(file.string() + "-wal"), contentsOf(file),
                           journal.lastReceipt().note});
    };
    {
        auto journal = Journal::create({directory / "journal", 40, {}}, signerOf(kFirstKey), 1);
        REQUIRE(journal);
        take(*journal);
        Night night{*journal, 1000};
        night.everyKind(variant);
        for (int i = 0; i < 5; ++i) {
            night.quiet(journal->size() + 6);
            night.commit();
            take(*journal);
        }
    }
    auto journal = Journal::open({directory / "journal", 40, {}}, signerOf(kFirstKey), 1);
    REQUIRE(journal);
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 5; ++j) {
            (void)journal->decide(rules::OpenRound{"T1", 1000 + 10 * i + j, {{1, true, {}, {}}}},
                                  journal->lastTimeMs() + 5);
            (void)journal->decide(rules::ReportResult{"T1", 1000 + 10 * i + j, {"2C"}, {}},
                                  journal->lastTimeMs() + 5);
        }
        REQUIRE(journal->commit());
        take(*journal);
    }
    return moments;
}

}  // namespace

TEST_CASE("each file with each write-ahead log of its own past and of another journal")
{
    const MemoryDirectory directory;
    const fs::path file = directory / "journal.db";
    const auto ours = momentsOf(0);
    const auto theirs = momentsOf(1);
    REQUIRE(ours.size() == 12);
    REQUIRE(ours.size() == theirs.size());
    Family family{"each file with each write-ahead log"};
    Family receipts{"each that verifies, seen by the last receipt"};
    std::uint64_t past = 0;

    const auto combine = [&](std::size_t i, const std::string& log, const std::string& what) {
        for (const char* suffix : {"-wal", "-shm"}) fs::remove(file.string() + suffix);
        writeBytes(file, ours[i].file);
        if (!log.empty()) writeBytes(file.string() + "-wal", log);
        const auto verdict = storage::verify({file}, everything());
        const auto which = [&] { return "file " + std::to_string(i) + " with " + what; };
        std::optional<Contents> found;
        try {
            found = contentsOf(file);
        } catch (const SqliteFailure&) {
        }
        const auto isIt = [&](const Moment& moment) { return moment.contents == found; };
        // It says what one of the two journals said at some moment, to the last byte.
        const bool whole = std::ranges::any_of(ours, isIt) || std::ranges::any_of(theirs, isIt);
        family.mustDetectOr(whole, verdict, anywhere(), which);
        if (!verdict || found == ours.back().contents) return;
        ++past;
        receipts.mustDetect(storage::verify({file}, since(ours.back().note)), anywhere(), which);
    };
    for (std::size_t i = 0; i < ours.size(); ++i) {
        combine(i, "", "no log");
        for (std::size_t j = 0; j < ours.size(); ++j) {
            combine(i, ours[j].log, "its log " + std::to_string(j));
            combine(i, theirs[j].log, "the other's log " + std::to_string(j));
        }
    }
    family.expect(ours.size() * (1 + 2 * ours.size()));
    CHECK(family.detected() > 0);
    CHECK(past > 0);
    receipts.expect(past);
}

TEST_CASE("a rollback journal beside an archive")
{
    const MemoryDirectory directory;
    const Specimen specimen{directory / "journal.db"};
    const std::string planted = specimen.file().string() + "-journal";
    std::string hot;
    {
        // What a transaction leaves that wrote to the file and never ended.
        Database database{specimen.file().string(), Database::Mode::ReadWrite};
        database.execute(
            "PRAGMA cache_size=1; BEGIN; UPDATE journal SET payload=payload||' ' WHERE seq<250; "
            "UPDATE journal SET payload=payload||' '");
        hot = bytesOf(planted);
        database.execute("ROLLBACK");
    }
    REQUIRE(hot.size() > 512);
    specimen.restore();
    REQUIRE(specimen.verify());
    Family family{"a rollback journal beside an archive"};
    writeBytes(planted, hot);
    const auto verdict = specimen.verify();
    family.mustDetectOr(verdict && bytesOf(specimen.file()) == original().bytes, verdict,
                        wholeFile(), [] { return "planted"; });
    fs::remove(planted);
    specimen.restore();
    CHECK(specimen.verify());
    family.expect(1);
}

}  // namespace jackpot::storage::tamper
