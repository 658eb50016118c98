// Long journals: opened by their tail alone, and written while others read.
#include <doctest/doctest.h>

#include <chrono>

#include "storage/verify.h"
#include "tests/storage/fault_floor.h"
#include "tests/storage/fault_vfs.h"

namespace jackpot::storage {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

class CountingDisk final : public VfsWatcher {
public:
    std::uint64_t bytes = 0;
    void readBytes(const std::string& /*file*/, std::size_t count) override { bytes += count; }
};

std::int64_t msSince(Clock::time_point start)
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

struct Opening {
    std::string error;
    std::optional<std::uint64_t> seq;
    std::optional<rules::State> state;
    std::uint64_t size = 0;
    std::uint64_t bytesRead = 0;
    std::int64_t ms = 0;
};

Opening openAndCount(const fs::path& directory)
{
    CountingDisk disk;
    const ShimVfs vfs{"counting", disk};
    const auto start = Clock::now();
    const auto journal = Journal::open({directory, 10'000, vfs.name()}, testSigner(), 0);
    Opening opening;
    opening.ms = msSince(start);
    opening.bytesRead = disk.bytes;
    if (journal) {
        opening.state = journal->state();
        opening.size = journal->size();
    } else {
        opening.error = inWords(journal.error());
        opening.seq = journal.error().seq;
    }
    return opening;
}

void alter(const fs::path& directory, const std::string& sql)
{
    Database{(directory / kJournalName).string(), Database::Mode::ReadWrite}.execute(sql);
}

void replaceRecord(const fs::path& directory, std::uint64_t seq, const std::string& payload)
{
    Database database{(directory / kJournalName).string(), Database::Mode::ReadWrite};
    database.prepare("UPDATE journal SET payload = ? WHERE seq = ?")
        .bindText(1, payload)
        .bind(2, static_cast<std::int64_t>(seq))
        .run();
}

}  // namespace

TEST_CASE("a journal of 100,000 records is opened by its tail, and verified in full elsewhere")
{
    constexpr std::uint64_t kRecords = 100'000;
    const MemoryDirectory directory;
    const auto start = Clock::now();
    std::uint64_t size = 0;
    rules::State live;
    {
        auto journal = Journal::create({directory.path(), 10'000, {}}, testSigner(), 0);
        REQUIRE(journal);
        BusyFloor floor{11};
        // Some 6,000 records after the newest snapshot.
        while (journal->size() < kRecords + 6'000) {
            floor.play(*journal, 500);
            REQUIRE(journal->commit());
            REQUIRE(journal->tidy());
        }
        size = journal->size();
        live = journal->state();
    }
    const std::uint64_t fileBytes = fs::file_size(directory.path() / kJournalName);
    MESSAGE(size, " records, ", fileBytes / 1'000'000, " MB, written in ", msSince(start), " ms");

    const auto replayStart = Clock::now();
    const History history = History::of(directory.path());
    MESSAGE("replayed from the first record in ", msSince(replayStart), " ms");
    REQUIRE(history.payloads.size() == size);
    const rules::State& replayed = history.moments.at(size).state;
    CHECK(live == replayed);

    const Opening whole = openAndCount(directory.path());
    MESSAGE("opened in ", whole.ms, " ms; read ", whole.bytesRead / 1000, " kB");
    REQUIRE_MESSAGE(whole.error.empty(), whole.error);
    CHECK(whole.size == size);
    CHECK(*whole.state == replayed);
    CHECK(whole.bytesRead * 4 < fileBytes);
    VerifyOptions options;
    options.trusted = {testSigner().verifier()};
    const auto verified = verify(filesOf(directory.path()), options);
    REQUIRE(verified);
    CHECK(verified->end == size);

    // An amount in an old record, which only its hash and a replay can tell from the true one.
    std::uint64_t forged = 4711;
    while (history.payloads[forged].find("\"meter\":\"") == std::string::npos) ++forged;
    std::string forgery = history.payloads[forged];
    forgery.insert(forgery.find("\"meter\":\"") + 9, "1");
    replaceRecord(directory.path(), forged, forgery);
    const Opening unaware = openAndCount(directory.path());
    REQUIRE_MESSAGE(unaware.error.empty(), unaware.error);
    CHECK(*unaware.state == replayed);
    const auto refuted = verify(filesOf(directory.path()), options);
    REQUIRE_FALSE(refuted);
    CHECK(refuted.error().seq == forged);

    // Control: without snapshots all of it is read, and the forgery found.
    alter(directory.path(), "DELETE FROM snapshot");
    const Opening aware = openAndCount(directory.path());
    CHECK_MESSAGE(aware.seq == forged, aware.error);
    replaceRecord(directory.path(), forged, history.payloads[forged]);
    const Opening all = openAndCount(directory.path());
    MESSAGE("opened without a snapshot in ", all.ms, " ms; read ", all.bytesRead / 1000, " kB");
    REQUIRE_MESSAGE(all.error.empty(), all.error);
    CHECK(*all.state == replayed);
    CHECK(all.bytesRead * 2 > fileBytes);
}

namespace {

std::uint64_t logBytes(const fs::path& directory)
{
    return fs::file_size(directory / "journal.db-wal");
}

struct Written {
    std::uint64_t commits = 0;
    std::uint64_t failed = 0;
    std::uint64_t logAtMost = 0;
    std::int64_t slowestMs = 0;
};

// As a busy floor does it: many small batches, and an idle moment now and then.
Written write(Journal& journal, BusyFloor& floor, const fs::path& directory, int commits)
{
    Written written;
    for (int i = 0; i < commits; ++i) {
        floor.play(journal, 2);
        const auto start = Clock::now();
        if (journal.commit())
            ++written.commits;
        else
            ++written.failed;
        if (i % 40 == 0 && !journal.tidy()) ++written.failed;
        written.slowestMs = std::max(written.slowestMs, msSince(start));
        written.logAtMost = std::max(written.logAtMost, logBytes(directory));
    }
    return written;
}

}  // namespace

TEST_CASE("readers never hold the writer up, and when they are gone the log stays bounded")
{
    const MemoryDirectory directory;
    auto journal = Journal::create({directory.path(), 5'000, {}}, testSigner(), 0);
    REQUIRE(journal);
    BusyFloor floor{12};
    const Written alone = write(*journal, floor, directory.path(), 1'500);
    CHECK(alone.failed == 0);

    // One read transaction from the first row to the last, while thousands are committed.
    Written beside;
    std::uint64_t rows = 0;
    {
        auto reader = orThrow(JournalReader::open(directory.path() / kJournalName));
        const std::uint64_t end = orThrow(reader.endSeq());
        orThrow(reader.forEachPayload(0, end, [&](std::uint64_t seq, std::string_view) {
            if (seq == end / 2) beside = write(*journal, floor, directory.path(), 6'000);
            ++rows;
            return true;
        }));
        // What was committed meanwhile did not exist for this reader, and now it does.
        CHECK(rows == end);
        CHECK(orThrow(reader.endSeq()) == journal->size());
    }
    CHECK(beside.commits == 6'000);
    CHECK(beside.failed == 0);

    REQUIRE(journal->tidy());
    const Written after = write(*journal, floor, directory.path(), 6'000);
    CHECK(after.failed == 0);
    MESSAGE("the log at most: alone ", alone.logAtMost, ", beside a reader ", beside.logAtMost,
            ", after it ", after.logAtMost,
            " bytes; the slowest commit beside it: ", beside.slowestMs, " ms");
    // It is written from its start again and does not grow. Control: beside the reader it did.
    CHECK(after.logAtMost == std::max(beside.logAtMost, alone.logAtMost));
    CHECK(beside.logAtMost > alone.logAtMost);

    const auto start = Clock::now();
    {
        auto reader = orThrow(JournalReader::open(directory.path() / kJournalName));
        const auto note = orThrow(reader.lastNote());
        CHECK(note == journal->lastReceipt().note);
        const auto refused = journal->closeSegment(0);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == JournalError::Kind::Refused);
        MESSAGE(inWords(refused.error()), " (after ", msSince(start), " ms)");
        CHECK(write(*journal, floor, directory.path(), 50).failed == 0);
    }
    const std::uint64_t size = journal->size();
    const auto closed = journal->closeSegment(0);
    REQUIRE_MESSAGE(closed, (closed ? "" : inWords(closed.error())));
    CHECK(write(*journal, floor, directory.path(), 50).failed == 0);
    CHECK(payloadsOf(directory.path()).size() == journal->size());
    CHECK(journal->size() > size + 100);
}

TEST_CASE("without an idle moment the log is bounded as well")
{
    constexpr std::uint64_t kBound = 40'000'000;
    const MemoryDirectory directory;
    auto journal = Journal::create({directory.path(), 1'000'000, {}}, testSigner(), 0);
    REQUIRE(journal);
    BusyFloor floor{13};
    std::uint64_t most = 0;
    std::uint64_t written = 0;
    while (written < 3 * kBound) {
        floor.note(*journal, 1'000'000);
        written += 1'000'000;
        REQUIRE(journal->commit());
        most = std::max(most, logBytes(directory.path()));
    }
    MESSAGE("", written / 1'000'000, " MB written, the log at most ", most / 1'000'000, " MB");
    CHECK(most < kBound);
}

}  // namespace jackpot::storage
