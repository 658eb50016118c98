// Power cuts: from the record of what the disk was asked to do, every image that a cut may leave.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <unordered_set>

#include "tests/storage/crash_disk.h"
#include "tests/storage/fault_floor.h"

namespace jackpot::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 20'260'101;
constexpr std::uint64_t kSnapshotEvery = 8;

// The salts of the write-ahead log are random; with this a run is the same each time.
void seedSqlite() { sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 7, nullptr); }

// A journal on a recorded disk. Each step that is acknowledged is put down in the record; a step
// that fails ends the work, because then nothing more may be acknowledged.
class Shift {
public:
    Shift(RecordedDisk& disk, const std::string& vfs, fs::path directory, int key = 0)
        : disk_{disk}, settings_{std::move(directory), kSnapshotEvery, vfs}, key_{key}
    {}

    void watchFromHere() { disk_.watchFromHere(); }
    void create() { take(Journal::create(settings_, testSigner(key_), 0)); }
    void open()
    {
        if (!error_) take(openWithAnyKey(settings_, key_));
    }
    void close() { journal_.reset(); }

    void commit(std::size_t commands)
    {
        if (!journal_) return;
        floor_.play(*journal_, commands);
        told(journal_->commit());
    }
    void commitNote(std::size_t bytes)
    {
        if (!journal_) return;
        floor_.note(*journal_, bytes);
        told(journal_->commit());
    }
    void rotateKey()
    {
        if (!journal_) return;
        auto rotated = journal_->rotateKey(testSigner(key_ + 1), {"A", "B"}, 0);
        if (rotated) ++key_;
        told(rotated);
    }
    void closeSegment()
    {
        if (!journal_) return;
        if (const auto closed = journal_->closeSegment(0); !closed) return fail(closed.error());
        told(journal_->lastReceipt());
    }
    void tidy()
    {
        if (!journal_) return;
        if (const auto tidied = journal_->tidy(); !tidied) fail(tidied.error());
    }

    [[nodiscard]] const std::optional<JournalError>& error() const { return error_; }
    [[nodiscard]] int key() const { return key_; }

private:
    void take(Result<Journal, JournalError> journal)
    {
        if (!journal) return fail(journal.error());
        journal_.emplace(std::move(*journal));
        told(journal_->lastReceipt());
    }
    void told(const Result<Receipt, JournalError>& receipt)
    {
        if (!receipt) return fail(receipt.error());
        disk_.acknowledge(receipt->size, key_);
    }
    void fail(const JournalError& error)
    {
        error_ = error;
        journal_.reset();
    }

    RecordedDisk& disk_;
    JournalSettings settings_;
    BusyFloor floor_{kSeed};
    std::optional<Journal> journal_;
    std::optional<JournalError> error_;
    int key_;
};

using Scenario = std::function<void(Shift&)>;

void openAndClose(Shift& shift)
{
    shift.create();
    for (int day = 0; day < 3; ++day) {
        shift.commit(1);
        shift.commit(5);
        shift.commit(1);
        shift.commitNote(9'000);
        shift.commit(3);
        shift.close();
        shift.open();
    }
    shift.commit(1);
    shift.close();
}

void segmentsAndKeys(Shift& shift)
{
    shift.create();
    shift.commit(4);
    shift.commit(6);
    shift.closeSegment();
    shift.commit(3);
    shift.rotateKey();
    shift.commit(1);
    shift.closeSegment();
    shift.commit(2);
    shift.close();
    shift.open();
    shift.commit(2);
    shift.closeSegment();
    shift.close();
}

// tidy() moves the log from a megabyte on; what is committed after it writes the log from its start
// again.
void checkpoints(Shift& shift)
{
    shift.create();
    for (int i = 0; i < 11; ++i) shift.commitNote(90'000);
    shift.commit(3);
    shift.watchFromHere();
    shift.commitNote(40'000);
    shift.tidy();
    shift.commit(3);
    shift.commitNote(20'000);
    shift.commit(9);
    shift.close();
}

Scenario anyDay(std::uint64_t seed)
{
    return [seed](Shift& shift) {
        std::mt19937_64 random{seed};
        shift.create();
        shift.watchFromHere();
        for (int i = 0; i < 14; ++i) {
            switch (random() % 10) {
                case 0: shift.closeSegment(); break;
                case 1: shift.rotateKey(); break;
                case 2:
                    shift.close();
                    shift.open();
                    break;
                case 3: shift.commitNote(random() % 30'000); break;
                default: shift.commit(1 + random() % 9); break;
            }
        }
        shift.close();
    };
}

// A scenario that was carried out, and what the disk was asked to do.
struct Recording {
    MemoryDirectory directory;
    RecordedDisk disk;
    std::optional<JournalError> error;
    History history;  // empty after an error

    explicit Recording(const Scenario& scenario, std::uint64_t failingSync = 0,
                       RecordedDisk::Betrayal betrayal = {})
        : disk{directory.path(), betrayal}
    {
        seedSqlite();
        disk.failSync(failingSync);
        {
            const ShimVfs vfs{"crash", disk};
            Shift shift{disk, vfs.name(), directory.path()};
            scenario(shift);
            error = shift.error();
        }
        disk.stop();
        if (!error) history = History::of(directory.path());
        if (failingSync != 0) return;
        // What is not seen is not cut.
        REQUIRE(disk.count(DiskEvent::Kind::Sync) > 0);
        REQUIRE((disk.count(DiskEvent::Kind::SyncDirectory) > 0) != betrayal.forgetsDirectories);
    }
};

struct Tally {
    std::uint64_t cuts = 0;
    std::uint64_t images = 0;  // no two of them the same, with the same number acknowledged
    std::uint64_t nothingAcknowledged = 0;
    std::uint64_t neitherNewNorOpen = 0;  // of these: a create that has to be cleaned up by hand
    std::uint64_t withMore = 0;           // a batch that was durable and not yet acknowledged
    std::uint64_t wroteOn = 0;
    std::uint64_t imagesWithLoss = 0;
    std::uint64_t recordsLost = 0;
    std::uint64_t notOpened = 0;
    std::uint64_t wrong = 0;
    std::vector<std::string> faults;  // the first ones

    void complain(const std::string& where, const std::string& what)
    {
        if (faults.size() < 10) faults.push_back(where + ": " + what);
    }
    void add(const Tally& other)
    {
        cuts += other.cuts;
        images += other.images;
        nothingAcknowledged += other.nothingAcknowledged;
        neitherNewNorOpen += other.neitherNewNorOpen;
        withMore += other.withMore;
        wroteOn += other.wroteOn;
        imagesWithLoss += other.imagesWithLoss;
        recordsLost += other.recordsLost;
        notOpened += other.notOpened;
        wrong += other.wrong;
    }
};

void report(const std::string& name, const Tally& tally, bool faults = true)
{
    MESSAGE(name, ": ", tally.images, " images at ", tally.cuts,
            " cuts; acknowledged records lost: ", tally.recordsLost, " in ", tally.imagesWithLoss,
            " images; not opened: ", tally.notOpened, "; wrong: ", tally.wrong,
            "; with an unacknowledged batch: ", tally.withMore,
            "; nothing acknowledged yet: ", tally.nothingAcknowledged,
            " (neither opened nor created again: ", tally.neitherNewNorOpen,
            "); written on: ", tally.wroteOn);
    for (std::size_t i = 0; faults && i < tally.faults.size(); ++i) MESSAGE(tally.faults[i]);
}

class Examiner {
public:
    Examiner(const History& history, const History* earlier, Tally& tally)
        : history_{history}, earlier_{earlier}, tally_{tally}
    {}

    void examine(const PowerCut& cut, Survival survival, std::mt19937_64& random)
    {
        const DiskImage image = cut.image(survival, random);
        if (!seen_.insert(fingerprint(image, cut.acknowledged())).second) return;
        ++tally_.images;
        placeImage(image, directory_.path());
        if (cut.acknowledged() == 0)
            examineUnacknowledged();
        else
            examineAcknowledged(cut, survival);
    }

private:
    static std::string placeOf(const PowerCut& cut, Survival survival)
    {
        return "cut before event " + std::to_string(cut.position()) + ", survival " +
               std::to_string(static_cast<int>(survival));
    }

    static std::size_t fingerprint(const DiskImage& image, std::uint64_t acknowledged)
    {
        std::size_t value = acknowledged;
        for (const auto& [name, bytes] : image)
            value = (value * 31 + std::hash<std::string>{}(name)) * 31 + hashOf(bytes);
        return value;
    }

    // No outcome of these records has been sent.
    void examineUnacknowledged()
    {
        ++tally_.nothingAcknowledged;
        const JournalSettings settings{directory_.path(), kSnapshotEvery, {}};
        if (Journal::open(settings, testSigner(), 0)) return;
        const auto created = Journal::create(settings, testSigner(), 0);
        if (!created) ++tally_.neitherNewNorOpen;
    }

    void examineAcknowledged(const PowerCut& cut, Survival survival)
    {
        const std::uint64_t acknowledged = cut.acknowledged();
        Verdict verdict = openAndJudge(directory_.path(), cut.key(), history_, acknowledged);
        if (verdict.kind == Verdict::Kind::Wrong && earlier_)
            verdict = openAndJudge(directory_.path(), cut.key(), *earlier_, acknowledged);
        if (verdict.kind == Verdict::Kind::Whole) {
            if (verdict.size > acknowledged) ++tally_.withMore;
            if (tally_.images % 32 == 0) writeOn(cut, survival, verdict.size);
            return;
        }
        if (verdict.kind == Verdict::Kind::NotOpened) ++tally_.notOpened;
        if (verdict.kind == Verdict::Kind::Wrong) ++tally_.wrong;
        if (verdict.kind == Verdict::Kind::Lost) {
            ++tally_.imagesWithLoss;
            tally_.recordsLost += acknowledged - verdict.size;
        }
        tally_.complain(placeOf(cut, survival), verdict.what);
    }

    // What was recovered is a journal like any other.
    void writeOn(const PowerCut& cut, Survival survival, std::uint64_t size)
    {
        ++tally_.wroteOn;
        const JournalSettings settings{directory_.path(), kSnapshotEvery, {}};
        std::uint64_t end = 0;
        int key = cut.key();
        if (auto journal = openWithAnyKey(settings, key)) {
            journal->heartbeat(0);
            if (const auto receipt = journal->commit()) end = receipt->size;
        }
        const auto again = openWithAnyKey(settings, key);
        if (end > size && again && again->size() == end) return;
        ++tally_.wrong;
        tally_.complain(placeOf(cut, survival), "the recovered journal cannot be written on");
    }

    const History& history_;
    const History* earlier_;
    Tally& tally_;
    MemoryDirectory directory_;
    std::unordered_set<std::size_t> seen_;
};

// Cuts at each event, or at each `stride`th of those that are no sync, with more images where a
// sync comes next. What is not as in `history` may be as in an earlier one.
void examineAll(PowerCut cut, std::size_t from, const History& history, std::uint64_t perEvent,
                std::mt19937_64& random, Tally& tally,
                std::size_t to = std::numeric_limits<std::size_t>::max(), std::size_t stride = 1,
                const History* earlier = nullptr)
{
    Examiner examiner{history, earlier, tally};
    while (true) {
        if (cut.position() >= from &&
            (cut.beforeSync() || (cut.pending() > 0 && cut.position() % stride == 0))) {
            ++tally.cuts;
            examiner.examine(cut, Survival::Nothing, random);
            examiner.examine(cut, Survival::Everything, random);
            const std::uint64_t some = cut.beforeSync() ? perEvent * 4 : perEvent;
            for (std::uint64_t i = 0; cut.pending() > 1 && i < some; ++i)
                examiner.examine(cut, kSurvivals[2 + i % (std::size(kSurvivals) - 2)], random);
        }
        if (cut.atEnd() || cut.position() >= to) return;
        cut.advance();
    }
}

Tally cutPower(const Scenario& scenario, std::uint64_t perEvent,
               RecordedDisk::Betrayal betrayal = {}, std::size_t stride = 1)
{
    const Recording recording{scenario, 0, betrayal};
    REQUIRE_MESSAGE(!recording.error, (recording.error ? inWords(*recording.error) : ""));
    std::mt19937_64 random{kSeed};
    Tally tally;
    examineAll(PowerCut{recording.disk}, recording.disk.watchFrom(), recording.history, perEvent,
               random, tally, std::numeric_limits<std::size_t>::max(), stride);
    return tally;
}

// What a restart does to a disk.
struct Restart {
    MemoryDirectory directory;
    std::optional<RecordedDisk> disk;
    History history;
    std::optional<JournalError> error;

    Restart(const DiskImage& image, int key)
    {
        placeImage(image, directory.path());
        disk.emplace(directory.path());
        {
            const ShimVfs vfs{"restart", *disk};
            Shift shift{*disk, vfs.name(), directory.path(), key};
            shift.open();
            shift.commit(2);
            disk->stop();
            error = shift.error();
        }
        if (!error) history = History::of(directory.path());
    }
};

// The power was cut and is cut again while the next process recovers. What the first one had not
// made durable and the second had begun to undo, such as a segment that was being closed, may be
// there.
void cutAgain(const PowerCut& first, const History& before, Survival survival,
              std::uint64_t perEvent, std::mt19937_64& random, Tally& tally)
{
    const Restart restart{first.image(survival, random), first.key()};
    if (restart.error) {
        ++tally.notOpened;
        return tally.complain("a restart", inWords(*restart.error));
    }
    examineAll(PowerCut{*restart.disk, first.acknowledged(), first.key()}, 0, restart.history,
               perEvent, random, tally, std::numeric_limits<std::size_t>::max(), 1, &before);
}

// The process was killed, the power is cut while or after the next one recovers.
void killAndCut(const PowerCut& killed, std::mt19937_64& random, Tally& tally)
{
    const Restart restart{killed.seen(), killed.key()};
    if (restart.error) {
        ++tally.notOpened;
        return tally.complain("a restart", inWords(*restart.error));
    }
    examineAll(PowerCut{killed, *restart.disk}, 0, restart.history, 1, random, tally);
}

void requireNothingLost(const Tally& tally)
{
    CHECK(tally.recordsLost == 0);
    CHECK(tally.imagesWithLoss == 0);
    CHECK(tally.notOpened == 0);
    CHECK(tally.wrong == 0);
    CHECK(tally.withMore > 0);
}

}  // namespace

TEST_CASE("no power cut loses an acknowledged record or shows half of a batch")
{
    const std::uint64_t factor = soakFactor();
    Tally all;
    const auto add = [&](const std::string& name, const Tally& tally) {
        report(name, tally);
        requireNothingLost(tally);
        all.add(tally);
    };
    add("days", cutPower(openAndClose, 24 * factor));
    add("segments and keys", cutPower(segmentsAndKeys, 24 * factor));
    add("the log is moved", cutPower(checkpoints, 2 * factor, {}, 7));
    Tally days;
    for (std::uint64_t seed = 1; seed <= 6 * factor; ++seed) days.add(cutPower(anyDay(seed), 14));
    add("any days", days);
    report("together", all);
    CHECK(all.images >= 25'000);
}

TEST_CASE("a power cut while recovering from a power cut loses nothing either")
{
    std::mt19937_64 random{kSeed};
    Tally tally;
    for (const Scenario& scenario : {Scenario{openAndClose}, Scenario{segmentsAndKeys}}) {
        const Recording recording{scenario};
        for (std::uint64_t i = 0; i < 40 * soakFactor(); ++i) {
            PowerCut cut{recording.disk};
            const std::size_t at = random() % recording.disk.events().size();
            while (cut.position() < at) cut.advance();
            if (cut.acknowledged() > 0)
                cutAgain(cut, recording.history, kSurvivals[i % std::size(kSurvivals)], 1, random,
                         tally);
        }
    }
    report("cut while recovering", tally);
    requireNothingLost(tally);
}

// What the new process has shown, to a display or to a table that sends again, must not change
// after the next power cut, although it was not synced when the old process died.
TEST_CASE("what a process shows after a kill survives the power cut that follows")
{
    std::mt19937_64 random{kSeed};
    Tally tally;
    for (const Scenario& scenario : {Scenario{openAndClose}, Scenario{segmentsAndKeys}}) {
        const Recording recording{scenario};
        for (PowerCut cut{recording.disk}; !cut.atEnd(); cut.advance())
            if (cut.acknowledged() > 0 && cut.pending() > 0 && cut.beforeSync())
                killAndCut(cut, random, tally);
    }
    report("killed, restarted, cut", tally);
    requireNothingLost(tally);
}

TEST_CASE("a failed sync loses nothing acknowledged, not even what Linux then never writes")
{
    std::mt19937_64 random{kSeed};
    const Recording whole{segmentsAndKeys};
    Tally cut;
    Tally killed;
    const std::uint64_t syncs = whole.disk.count(DiskEvent::Kind::Sync);
    std::uint64_t reported = 0;
    for (std::uint64_t nth = 1; nth <= syncs; ++nth) {
        const Recording recording{segmentsAndKeys, nth};
        const auto& events = recording.disk.events();
        const auto failed =
            std::ranges::find(events, DiskEvent::Kind::SyncFailed, &DiskEvent::kind);
        REQUIRE(failed != events.end());
        const auto from = static_cast<std::size_t>(failed - events.begin()) + 1;
        if (recording.error) {
            ++reported;
            CHECK(recording.error->kind == JournalError::Kind::Io);
        }
        using enum PowerCut::AfterFailedSync;
        for (const auto after : {Lost, Pending})
            examineAll(PowerCut{recording.disk, after}, from, whole.history, 0, random, cut,
                       from + 30);
        PowerCut kill{recording.disk, Lost};
        while (kill.position() < from) kill.advance();
        if (kill.acknowledged() > 0) killAndCut(kill, random, killed);
    }
    MESSAGE("failed syncs: ", syncs, ", reported to the caller: ", reported);
    report("a sync failed, cut", cut);
    report("a sync failed, killed, restarted, cut", killed);
    requireNothingLost(cut);
    requireNothingLost(killed);
    CHECK(reported > 0);
}

TEST_CASE("the journal stays writable under its name while it becomes an archive segment")
{
    const Recording recording{segmentsAndKeys};
    CHECK(recording.disk.count(DiskEvent::Kind::Rename) >= 6);
    CHECK(recording.disk.readOnlyRenames() == 0);
}

TEST_CASE("control: with synchronous=NORMAL the same cuts lose acknowledged records")
{
    const Tally tally = cutPower(openAndClose, 2, {.lazyLog = true});
    report("NORMAL", tally, false);
    CHECK(tally.recordsLost > 0);
}

TEST_CASE("control: on a disk that forgets directory syncs the same cuts lose files")
{
    const Tally tally = cutPower(segmentsAndKeys, 2, {.forgetsDirectories = true});
    report("directories forgotten", tally, false);
    CHECK(tally.notOpened + tally.imagesWithLoss > 0);
}

TEST_CASE("control: a record, a batch, a root or a state that is another is noticed")
{
    const Recording recording{openAndClose};
    const fs::path& directory = recording.directory.path();
    const std::uint64_t size = recording.history.payloads.size();
    const auto verdict = [&](const History& history, std::uint64_t acknowledged) {
        return openAndJudge(directory, 0, history, acknowledged).kind;
    };
    using enum Verdict::Kind;
    CHECK(verdict(recording.history, size) == Whole);
    CHECK(verdict(recording.history, size + 1) == Lost);

    History another = recording.history;
    another.payloads[size / 2].back() ^= 1;
    CHECK(verdict(another, size) == Wrong);
    another = recording.history;
    another.moments.erase(size);
    CHECK(verdict(another, 1) == Wrong);
    another = recording.history;
    another.moments.at(size).root.bytes[0] ^= 1;
    CHECK(verdict(another, size) == Wrong);
    another = recording.history;
    another.moments.at(size).state.pools.at(0).meter += rules::Money::ofUnits(1);
    CHECK(verdict(another, size) == Wrong);
}

}  // namespace jackpot::storage
