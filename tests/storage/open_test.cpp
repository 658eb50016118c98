// What a journal insists on before it is written.
#include <doctest/doctest.h>
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "storage/replay.h"
#include "storage/snapshot.h"
#include "tests/storage/fault_floor.h"
#include "tests/support/scratch.h"

namespace jackpot::storage {
namespace {

namespace fs = std::filesystem;
using Kind = JournalError::Kind;

JournalSettings settingsFor(const fs::path& directory) { return {directory, 20, {}}; }

// Some 80 records, the newest snapshot a dozen before the end, where there are heartbeats.
void fill(const fs::path& directory)
{
    auto journal = Journal::create(settingsFor(directory), testSigner(), 0);
    REQUIRE(journal);
    BusyFloor floor{3};
    for (int i = 0; i < 17; ++i) {
        floor.play(*journal, 4);
        REQUIRE(journal->commit());
    }
    for (int i = 0; i < 2; ++i) {
        journal->heartbeat(0);
        REQUIRE(journal->commit());
    }
}

void copyTo(const fs::path& from, const MemoryDirectory& to)
{
    to.clear();
    fs::copy(from, to.path(), fs::copy_options::recursive);
}

// Changes the file with SQLite's own tools.
void alter(const fs::path& directory, const std::string& sql)
{
    Database database{(directory / kJournalName).string(), Database::Mode::ReadWrite};
    database.execute(sql);
}

using DiskFiles = std::map<std::string, std::string>;

// The database files by name, without what a connection keeps for itself.
DiskFiles filesIn(const fs::path& directory)
{
    DiskFiles files;
    for (const auto& entry : fs::directory_iterator{directory}) {
        const std::string name = entry.path().filename().string();
        if (!name.ends_with("-shm") && !name.ends_with(".lock")) files[name] = bytesOf(entry);
    }
    return files;
}

std::string inWordsOr(const Result<Journal, JournalError>& journal)
{
    return journal ? "it was opened" : inWords(journal.error());
}

// The exit status of what runs in another process.
int inAnotherProcess(const std::function<int()>& work)
{
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(work());
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

constexpr int kOpened = 100;

int openingStatus(const fs::path& directory)
{
    const auto journal = Journal::open(settingsFor(directory), testSigner(), 0);
    return journal ? kOpened : static_cast<int>(journal.error().kind);
}

}  // namespace

struct Forgery {
    std::string name;
    std::string sql;
    bool namesRecord;
    const char* says;  // a part of the message
};

// Alterations of a journal of `size` records, by hand, as SQL.
std::vector<Forgery> forgeriesOf(std::uint64_t size)
{
    const auto before = [&](std::uint64_t records) { return std::to_string(size - records); };
    const std::string snapshot = "(SELECT max(size) FROM snapshot)";
    return {
        {"a digit of the snapshot's state",
         "UPDATE snapshot SET state = replace(state, '\"round\":', '\"round\": ') WHERE size = " +
             snapshot,
         true, "snapshot"},
        {"a snapshot's state for another's",
         "UPDATE snapshot SET state = (SELECT state FROM snapshot ORDER BY size LIMIT 1) WHERE "
         "size = " +
             snapshot,
         true, "snapshot"},
        {"the tree of the snapshot",
         "UPDATE snapshot SET frontier = (SELECT frontier FROM snapshot ORDER BY size LIMIT 1) "
         "WHERE size = " +
             snapshot,
         true, "tree"},
        {"a snapshot of a record that is none",
         "UPDATE snapshot SET size = size + 1 WHERE size = " + snapshot, true, "snapshot"},
        {"the outcome of a command in the tail",
         "UPDATE journal SET payload = replace(payload, '\"meter\":\"5', '\"meter\":\"6') WHERE "
         "seq = (SELECT max(seq) FROM journal WHERE payload LIKE '%\"meter\":\"5%')",
         true, "the rules give"},
        {"a record of the tail removed", "DELETE FROM journal WHERE seq = " + before(4), true,
         "missing"},
        {"the number in a record",
         "UPDATE journal SET payload = replace(payload, '\"seq\":" + before(2) +
             "', '\"seq\":7') WHERE seq = " + before(2),
         true, "it says that it is record 7"},
        {"the time in a record",
         "UPDATE journal SET payload = replace(payload, '\"time\":1', '\"time\":0') WHERE seq = " +
             before(3),
         true, ""},
        {"a record that is no JSON", "UPDATE journal SET payload = '{' WHERE seq = " + before(1),
         true, "cannot be read"},
        {"what the rules do not recompute",
         "UPDATE journal SET payload = replace(payload, 'heartbeat', 'heartbeet') WHERE seq = " +
             before(1),
         false, "root"},
        {"the last record removed", "DELETE FROM journal WHERE seq = " + before(1), false,
         "the last checkpoint has"},
        {"a record too many", "INSERT INTO journal SELECT max(seq) + 1, payload FROM journal",
         false, "records"},
        {"the last records and checkpoints removed but one",
         "DELETE FROM journal WHERE seq >= " + before(1) +
             "; DELETE FROM checkpoint WHERE size > " + before(2),
         false, "records"},
        {"the signature of the last checkpoint",
         "UPDATE checkpoint SET note = substr(note, 1, length(note) - 12) || 'AAAA' || "
         "substr(note, length(note) - 7) WHERE size = " +
             std::to_string(size),
         false, "checkpoint"},
        {"the root in the last checkpoint",
         "UPDATE checkpoint SET note = (SELECT note FROM checkpoint WHERE size = " + before(1) +
             ") WHERE size = " + std::to_string(size),
         false, "records"},
        {"a last checkpoint that is none",
         "UPDATE checkpoint SET note = 'nothing' WHERE size = " + std::to_string(size), false,
         "checkpoint"},
        {"no checkpoint at all", "DELETE FROM checkpoint", false, "checkpoint"},
        {"a table too many", "CREATE TABLE more(a)", false, "\"more\" too many"},
        {"a trigger", "CREATE TRIGGER t AFTER INSERT ON journal BEGIN DELETE FROM checkpoint; END",
         false, "schema"},
        {"an index", "CREATE INDEX i ON journal(payload)", false, "schema"},
        {"a view that shows other amounts",
         "DROP VIEW records; CREATE VIEW records AS SELECT 1 AS seq", false, "schema"},
        {"a table renamed", "ALTER TABLE node RENAME TO nodes", false, "schema"},
        {"no table segment", "DROP TABLE segment", false, "segment"},
        {"a column of segment renamed", "ALTER TABLE segment RENAME COLUMN first TO start", false,
         "segment"},
        {"another beginning", "UPDATE segment SET first = 3", false, "first record"},
        {"two beginnings", "INSERT INTO segment SELECT 3, frontier FROM segment", false, "begins"},
        {"another program's file", "PRAGMA application_id=1", false, "not a journal"},
        {"a journal of format version 1, that of 0.1.0", "PRAGMA user_version=1", false,
         "its format is version 1, this program knows version 2: an older version of jackpotd "
         "wrote it, and this one cannot read it"},
        {"a version that there never was", "PRAGMA user_version=0", false, "version 0"},
    };
}

TEST_CASE("a journal that is not what was signed is not opened, and the message says where")
{
    const MemoryDirectory original;
    fill(original.path());
    const std::uint64_t size = payloadsOf(original.path()).size();
    REQUIRE(orThrow(JournalReader::open(original.path() / kJournalName))
                    .snapshots()
                    .value()
                    .back()
                    .size +
                6 <
            size);
    for (const Forgery& forgery : forgeriesOf(size)) {
        CAPTURE(forgery.name);
        const MemoryDirectory directory;
        copyTo(original.path(), directory);
        alter(directory.path(), forgery.sql);
        const auto journal = Journal::open(settingsFor(directory.path()), testSigner(), 0);
        CAPTURE(inWordsOr(journal));
        CHECK_FALSE(journal);
        if (journal) continue;
        CHECK(journal.error().kind == Kind::NotVerified);
        CHECK(inWords(journal.error()).find(forgery.says) != std::string::npos);
        CHECK(journal.error().message.find(directory.path()) != std::string::npos);
        if (forgery.namesRecord) CHECK(journal.error().seq.has_value());
    }
    // Control: an alteration that changes nothing is no reason to refuse.
    const MemoryDirectory directory;
    copyTo(original.path(), directory);
    alter(directory.path(), "UPDATE journal SET payload = payload; VACUUM;");
    CHECK(Journal::open(settingsFor(directory.path()), testSigner(), 0));
}

TEST_CASE("a file that is damaged or no database is not opened")
{
    const MemoryDirectory original;
    fill(original.path());
    const auto damaged = [&](const std::function<void(std::string&)>& damage) {
        const MemoryDirectory directory;
        std::string bytes = bytesOf(original.path() / kJournalName);
        damage(bytes);
        std::ofstream{directory.path() / kJournalName, std::ios::binary} << bytes;
        const auto journal = Journal::open(settingsFor(directory.path()), testSigner(), 0);
        return journal ? kOpened : static_cast<int>(journal.error().kind);
    };
    CHECK(damaged([](std::string&) {}) == kOpened);
    CHECK(damaged([](std::string& bytes) { bytes[3] ^= 1; }) ==
          static_cast<int>(Kind::NotVerified));
    CHECK(damaged([](std::string& bytes) { bytes.resize(bytes.size() / 2); }) ==
          static_cast<int>(Kind::NotVerified));
    CHECK(damaged([](std::string& bytes) { bytes.clear(); }) ==
          static_cast<int>(Kind::NotVerified));
    CHECK(damaged([](std::string& bytes) { std::fill_n(bytes.begin() + 4096, 4096, 'x'); }) ==
          static_cast<int>(Kind::NotVerified));
}

TEST_CASE("a journal is opened with its own key alone")
{
    const MemoryDirectory directory;
    fill(directory.path());
    const auto journal = Journal::open(settingsFor(directory.path()), testSigner(1), 0);
    REQUIRE_FALSE(journal);
    CHECK(journal.error().kind == Kind::BadKey);
    CHECK(journal.error().message.find(testSigner(1).verifier().format()) != std::string::npos);
    CHECK(Journal::open(settingsFor(directory.path()), testSigner(), 0));
}

TEST_CASE("where there is no journal none is opened, and where there is one none is made")
{
    const MemoryDirectory directory;
    const auto none = Journal::open(settingsFor(directory.path()), testSigner(), 0);
    REQUIRE_FALSE(none);
    CHECK(none.error().kind == Kind::Refused);
    fill(directory.path());
    const auto second = Journal::create(settingsFor(directory.path()), testSigner(), 0);
    REQUIRE_FALSE(second);
    CHECK(second.error().kind == Kind::Refused);
    CHECK(Journal::open(settingsFor(directory.path()), testSigner(), 0));
}

TEST_CASE("a second process on the same journal is refused")
{
    const MemoryDirectory directory;
    fill(directory.path());
    {
        const auto journal = Journal::open(settingsFor(directory.path()), testSigner(), 0);
        REQUIRE(journal);
        CHECK(inAnotherProcess([&] { return openingStatus(directory.path()); }) ==
              static_cast<int>(Kind::Locked));
        CHECK(inAnotherProcess([&] {
                  const auto made = Journal::create(settingsFor(directory.path()), testSigner(), 0);
                  return made ? kOpened : static_cast<int>(made.error().kind);
              }) == static_cast<int>(Kind::Locked));
        const auto again = Journal::open(settingsFor(directory.path()), testSigner(), 0);
        REQUIRE_FALSE(again);
        CHECK(again.error().message.find("another process") != std::string::npos);
    }
    CHECK(inAnotherProcess([&] { return openingStatus(directory.path()); }) == kOpened);
}

TEST_CASE("a journal that may not be written is refused when it is opened, with the reason")
{
    constexpr uid_t kNobody = 65'534;
    const MemoryDirectory directory;
    fill(directory.path());
    const fs::path file = directory.path() / kJournalName;
    // To root everything is permitted, so another user tries.
    const bool root = ::geteuid() == 0;
    if (root)
        for (const fs::path& each : {directory.path(), file, directory.path() / "journal.lock"})
            REQUIRE(::chown(each.c_str(), kNobody, kNobody) == 0);
    const auto asUser = [&](bool thenCommit) {
        return inAnotherProcess([&] {
            if (root &&
                (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0))
                return 99;
            auto journal = Journal::open(settingsFor(directory.path()), testSigner(), 0);
            if (!journal)
                return journal.error().message.find(directory.path()) == std::string::npos
                           ? 98
                           : static_cast<int>(journal.error().kind);
            if (!thenCommit) return kOpened;
            journal->heartbeat(0);
            return journal->commit() ? kOpened : static_cast<int>(journal->commit().error().kind);
        });
    };
    CHECK(asUser(true) == kOpened);

    fs::permissions(file, fs::perms::owner_read);
    CHECK(asUser(false) == static_cast<int>(Kind::Io));
    fs::permissions(file, fs::perms::none);
    CHECK(asUser(false) == static_cast<int>(Kind::Io));
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);

    fs::permissions(directory.path(), fs::perms::owner_read | fs::perms::owner_exec);
    CHECK(asUser(false) == static_cast<int>(Kind::Io));
    fs::permissions(directory.path(), fs::perms::none);
    CHECK(asUser(false) == static_cast<int>(Kind::Io));
    fs::permissions(directory.path(), fs::perms::owner_all);
    CHECK(asUser(true) == kOpened);
}

TEST_CASE("a file that is replaced or removed while in use takes no more records")
{
    struct Mischief {
        std::string name;
        std::function<void(const fs::path& directory, const fs::path& aside)> act;
    };
    const fs::path log = "journal.db-wal";
    const Mischief mischiefs[] = {
        {"the file is moved away",
         [](const fs::path& directory, const fs::path&) {
             fs::rename(directory / kJournalName, directory / "elsewhere");
         }},
        {"the file is removed",
         [](const fs::path& directory, const fs::path&) { fs::remove(directory / kJournalName); }},
        {"a copy is put in its place",
         [](const fs::path& directory, const fs::path&) {
             fs::copy_file(directory / kJournalName, directory / "copy");
             fs::rename(directory / "copy", directory / kJournalName);
         }},
        {"file and log are restored from copies",
         [&](const fs::path& directory, const fs::path&) {
             for (const fs::path& name : {fs::path{kJournalName}, log}) {
                 fs::copy_file(directory / name, directory / "copy");
                 fs::rename(directory / "copy", directory / name);
             }
         }},
        {"the log is removed",
         [&](const fs::path& directory, const fs::path&) { fs::remove(directory / log); }},
        {"a copy is put in the log's place",
         [&](const fs::path& directory, const fs::path&) {
             fs::copy_file(directory / log, directory / "copy");
             fs::rename(directory / "copy", directory / log);
         }},
        {"the directory is moved away",
         [](const fs::path& directory, const fs::path& aside) {
             fs::rename(directory, aside / "moved");
             fs::create_directory(directory);
         }},
    };
    for (const Mischief& mischief : mischiefs) {
        CAPTURE(mischief.name);
        const MemoryDirectory scratch;
        const fs::path directory = scratch.path() / "journal";
        const fs::path kept = scratch.path() / "kept";
        fs::create_directories(directory);
        fs::create_directories(kept);
        Receipt last;
        DiskFiles replaced;
        {
            fill(directory);
            auto journal = Journal::open(settingsFor(directory), testSigner(), 0);
            REQUIRE(journal);
            BusyFloor floor{4};
            floor.play(*journal, 5);
            last = journal->commit().value();
            // Other names for the same files: what becomes of the old ones can still be seen.
            for (const fs::path& name : {fs::path{kJournalName}, log})
                fs::create_hard_link(directory / name, kept / name);
            mischief.act(directory, scratch.path());
            replaced = filesIn(directory);

            floor.play(*journal, 5);
            const auto receipt = journal->commit();
            CHECK_FALSE(receipt);
            if (!receipt) {
                CHECK(receipt.error().kind == Kind::Io);
                CHECK(receipt.error().message.find("replaced or removed") != std::string::npos);
            }
            journal->heartbeat(0);
            CHECK_FALSE(journal->commit());
        }
        // What is now there under the old names belongs to the process that put it there.
        CHECK(filesIn(directory) == replaced);
        const auto old = Journal::open(settingsFor(kept), testSigner(), 0);
        CAPTURE(inWordsOr(old));
        REQUIRE(old);
        CHECK(old->size() == last.size);
        CHECK(old->lastReceipt().root == last.root);
    }
}

TEST_CASE("recovery is deterministic and gives what a replay of all records gives")
{
    const MemoryDirectory original;
    const MemoryDirectory cut;
    {
        fill(original.path());
        auto journal = Journal::open(settingsFor(original.path()), testSigner(), 0);
        REQUIRE(journal);
        BusyFloor floor{5};
        floor.play(*journal, 30);
        REQUIRE(journal->commit());
        floor.play(*journal, 3);
        REQUIRE(journal->commit());
        for (const char* name : {"journal.db", "journal.db-wal"})
            fs::copy_file(original.path() / name, cut.path() / name);
    }
    const MemoryDirectory copies[2];
    std::string states[2];
    for (int i = 0; i < 2; ++i) {
        copyTo(cut.path(), copies[i]);
        const auto journal = Journal::open(settingsFor(copies[i].path()), testSigner(), i * 1000);
        REQUIRE(journal);
        const History history = History::of(copies[i].path());
        CHECK(journal->size() == history.payloads.size());
        CHECK(journal->state() == history.moments.rbegin()->second.state);
        CHECK(journal->lastReceipt().root == history.moments.rbegin()->second.root);
        states[i] = writeState(journal->state());
    }
    CHECK(states[0] == states[1]);
    CHECK(!states[0].empty());
    CHECK(filesIn(copies[0].path()) == filesIn(copies[1].path()));
    // Control: one command more or less makes another state.
    const History history = History::of(copies[0].path());
    CHECK(writeState(std::prev(history.moments.end(), 2)->second.state) != states[0]);
}

TEST_CASE("a clock that runs backwards never makes times decrease, not even over a restart")
{
    const MemoryDirectory directory;
    constexpr rules::TimeMs kNoon = 1'750'000'000'000;
    {
        auto journal = Journal::create(settingsFor(directory.path()), testSigner(), kNoon);
        REQUIRE(journal);
        journal->heartbeat(kNoon + 5'000);
        journal->heartbeat(kNoon - 90'000);
        (void)journal->decide(rules::SuspendPool{"none", "r", {"b"}}, kNoon - 60'000);
        REQUIRE(journal->commit());
    }
    auto journal = Journal::open(settingsFor(directory.path()), testSigner(), 17);
    REQUIRE(journal);
    CHECK(journal->lastTimeMs() == kNoon + 5'000);
    journal->heartbeat(0);
    REQUIRE(journal->rotateKey(testSigner(1), {"A", "B"}, 1));
    REQUIRE(journal->closeSegment(2));
    journal->heartbeat(kNoon + 6'000);
    journal->heartbeat(3);
    REQUIRE(journal->commit());

    rules::TimeMs last = 0;
    std::vector<rules::TimeMs> times;
    for (const std::string& payload : payloadsOf(directory.path())) {
        times.push_back(readRecord(payload).value().head.timeMs);
        CHECK(times.back() >= last);
        last = times.back();
    }
    CHECK(times.front() == kNoon);
    CHECK(last == kNoon + 6'000);
    // Control: a replay refuses records whose times decrease.
    Replay replay;
    const std::string earlier = writePlainRecord(0, 5, "heartbeat", [](JsonText&) {});
    const std::string later = writePlainRecord(1, 4, "heartbeat", [](JsonText&) {});
    CHECK(replay.step(0, readRecord(earlier).value(), earlier).empty());
    CHECK_FALSE(replay.step(1, readRecord(later).value(), later).empty());
}

}  // namespace jackpot::storage
