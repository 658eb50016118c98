// Which files are a journal's, also while they get new names.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "storage/verify.h"
#include "tests/storage/fault_floor.h"

namespace jackpot::storage {
namespace {

namespace fs = std::filesystem;

JournalSettings settingsFor(const fs::path& directory) { return {directory, 1'000, {}}; }

std::string segment(int number)
{
    const std::string digits = std::to_string(1'000 + number).substr(1);
    return "segment-000000000" + digits + ".db";
}

std::vector<std::string> namesOf(const fs::path& directory)
{
    std::vector<std::string> names;
    for (const fs::path& file : filesOf(directory)) names.push_back(file.filename().string());
    return names;
}

}  // namespace

TEST_CASE("where closing a segment was cut short, the next file is the journal's last")
{
    const MemoryDirectory directory;
    const fs::path journalFile = directory.path() / kJournalName;
    const fs::path next = directory.path() / "journal.db.next";
    fs::path closed;
    std::uint64_t size = 0;
    {
        auto journal = Journal::create(settingsFor(directory.path()), testSigner(), 0);
        REQUIRE(journal);
        BusyFloor floor{31};
        floor.play(*journal, 50);
        closed = journal->closeSegment(0).value();
        size = journal->size();
    }
    CHECK(filesOf(directory.path()) == std::vector{closed, journalFile});
    // Control: next to a journal it counts for nothing.
    std::ofstream{next} << "unfinished";
    CHECK(filesOf(directory.path()) == std::vector{closed, journalFile});

    Database{journalFile.string(), Database::Mode::ReadWrite}.execute("PRAGMA journal_mode=DELETE");
    fs::rename(journalFile, next);
    CHECK(filesOf(directory.path()) == std::vector{closed, next});
    VerifyOptions options;
    options.trusted = {testSigner().verifier()};
    const auto verified = verify(filesOf(directory.path()), options);
    REQUIRE_MESSAGE(verified, (verified ? "" : inWords(verified.error())));
    CHECK(verified->end == size);
    CHECK_FALSE(Journal::create(settingsFor(directory.path()), testSigner(), 0));

    const auto journal = Journal::open(settingsFor(directory.path()), testSigner(), 0);
    REQUIRE(journal);
    CHECK(journal->size() == size);
    CHECK(filesOf(directory.path()) == std::vector{closed, journalFile});
}

TEST_CASE("the names are of one moment while segments are being closed")
{
    constexpr int kSegments = 40;
    int seenNext = 0;
    for (int round = 0; round < 8; ++round) {
        const MemoryDirectory directory;
        const auto at = [&](const std::string& name) { return directory.path() / name; };
        std::ofstream{at("journal.db")} << "a";
        std::atomic<int> closed = 0;
        // The renames of Journal::closeSegment, faster than any disk makes them.
        const std::jthread writer{[&] {
            for (int i = 0; i < kSegments; ++i) {
                std::ofstream{at("journal.db.next")} << "a";
                std::this_thread::sleep_for(std::chrono::milliseconds{2});
                fs::rename(at("journal.db"), at(segment(i)));
                std::this_thread::yield();
                fs::rename(at("journal.db.next"), at("journal.db"));
                ++closed;
            }
        }};
        while (closed < kSegments) {
            const int before = closed;
            const auto names = namesOf(directory.path());
            REQUIRE(!names.empty());
            const int segments = static_cast<int>(names.size()) - 1;
            bool gapless = true;
            for (int i = 0; i < segments; ++i)
                gapless = gapless && names[static_cast<std::size_t>(i)] == segment(i);
            CHECK(gapless);
            // The next file is the last one only after the one before it has become a segment.
            const bool isNext = names.back() == "journal.db.next";
            CHECK((isNext || names.back() == "journal.db"));
            CHECK(segments >= before + (isNext ? 1 : 0));
            seenNext += isNext ? 1 : 0;
        }
    }
    MESSAGE("listed between the two renames: ", seenNext);
}

}  // namespace jackpot::storage
