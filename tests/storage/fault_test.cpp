// A disk that refuses: each operation of a journal's life fails in turn.
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "tests/storage/fault_floor.h"
#include "tests/storage/fault_vfs.h"
#include "tests/support/scratch.h"

namespace jackpot::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 7;
constexpr std::uint64_t kSnapshotEvery = 8;

struct Fault {
    FileOp op{};
    int code = SQLITE_OK;
    bool lasting = false;  // all later ones fail as well
};

class FaultyDisk final : public VfsWatcher {
public:
    struct Operation {
        std::string file;
        std::string step;  // during which it was asked for
    };

    FaultyDisk(Fault fault, std::uint64_t nth) : fault_{fault}, nth_{nth} {}

    int before(FileOp op, const std::string& file) override
    {
        if (op != fault_.op || !armed_) return SQLITE_OK;
        operations_.push_back({file, step_});
        const std::uint64_t count = operations_.size();
        return count == nth_ || (count > nth_ && fault_.lasting) ? fault_.code : SQLITE_OK;
    }
    void begin(const std::string& step) { step_ = step; }
    // From here on.
    void arm() { armed_ = true; }
    // Of the kind, in order.
    [[nodiscard]] const std::vector<Operation>& operations() const { return operations_; }

private:
    Fault fault_;
    std::uint64_t nth_;  // from 1
    std::vector<Operation> operations_;
    std::string step_;
    bool armed_ = false;
};

constexpr std::uint64_t kNever = ~std::uint64_t{0};

// What was done and what came of it.
struct Shift {
    std::uint64_t acknowledged = 0;
    std::uint64_t attempted = 0;
    int key = 0;
    std::string step;
    std::optional<JournalError> error;
    std::vector<std::string> goesOn;  // what the journal still did after it had failed
    std::optional<Receipt> after;     // the last, where a segment could not be closed
    bool wentOn = false;              // and it was acknowledged after that
};

// The object that has failed.
void tryEverything(Journal& journal, Shift& shift)
{
    journal.heartbeat(0);
    if (journal.commit()) shift.goesOn.emplace_back("commit");
    if (journal.rotateKey(testSigner(9), {"A", "B"}, 0)) shift.goesOn.emplace_back("rotateKey");
    if (journal.closeSegment(0)) shift.goesOn.emplace_back("closeSegment");
    if (journal.tidy()) shift.goesOn.emplace_back("tidy");
}

class Script {
public:
    Script(fs::path directory, const std::string& vfs, FaultyDisk& disk)
        : settings_{std::move(directory), kSnapshotEvery, vfs}, disk_{disk}
    {}

    void arm() { disk_.arm(); }

    void create()
    {
        take("create", [&] { return Journal::create(settings_, signer(), 0); });
    }
    void open()
    {
        take("open", [&] { return Journal::open(settings_, signer(), 0); });
    }
    void close()
    {
        disk_.begin("close");
        journal_.reset();
    }
    void commit(std::size_t commands)
    {
        if (!begin("commit")) return;
        floor_.play(*journal_, commands);
        told(journal_->commit());
    }
    void commitNote(std::size_t bytes)
    {
        if (!begin("commit of a large record")) return;
        floor_.note(*journal_, bytes);
        told(journal_->commit());
    }
    void rotateKey()
    {
        if (!begin("rotateKey")) return;
        const auto receipt = journal_->rotateKey(testSigner(shift.key + 1), {"A", "B"}, 0);
        if (receipt) ++shift.key;
        told(receipt);
    }
    void closeSegment()
    {
        if (!begin("closeSegment")) return;
        const auto closed = journal_->closeSegment(0);
        if (closed) return told(journal_->lastReceipt());
        shift.error = closed.error();
        // The old file may go on; then it must keep what it says.
        shift.after = journal_->lastReceipt();
        journal_->heartbeat(0);
        if (const auto receipt = journal_->commit()) {
            shift.after = *receipt;
            shift.wentOn = true;
        } else {
            tryEverything(*journal_, shift);
        }
        journal_.reset();
    }
    void tidy()
    {
        if (!begin("tidy")) return;
        if (const auto tidied = journal_->tidy(); !tidied) fail(tidied.error());
    }

    Shift shift;

private:
    [[nodiscard]] Signer signer() const { return testSigner(shift.key); }
    bool begin(const char* step)
    {
        if (shift.error) return false;
        shift.step = step;
        disk_.begin(step);
        return true;
    }
    void take(const char* step, const std::function<Result<Journal, JournalError>()>& make)
    {
        if (!begin(step)) return;
        auto journal = make();
        if (!journal) {
            shift.error = journal.error();
            return;
        }
        journal_.emplace(std::move(*journal));
        told(journal_->lastReceipt());
    }
    void told(const Result<Receipt, JournalError>& receipt)
    {
        if (!receipt) {
            shift.attempted = journal_->size();
            return fail(receipt.error());
        }
        shift.acknowledged = shift.attempted = receipt->size;
        if (!fs::exists(settings_.directory / "journal.db-wal"))
            shift.goesOn.emplace_back("a commit without a write-ahead log");
    }
    void fail(const JournalError& error)
    {
        shift.error = error;
        tryEverything(*journal_, shift);
        journal_.reset();
    }

    JournalSettings settings_;
    FaultyDisk& disk_;
    BusyFloor floor_{kSeed};
    std::optional<Journal> journal_;
};

using Scenario = void (*)(Script&);

void life(Script& script)
{
    script.arm();
    script.create();
    script.commit(3);
    script.commit(7);
    script.commit(1);
    script.rotateKey();
    script.commit(2);
    script.closeSegment();
    script.commit(2);
    script.close();
    script.open();
    script.commit(1);
    script.close();
}

// More than tidy() leaves in the write-ahead log.
void longLog(Script& script)
{
    script.create();
    script.commitNote(1'100'000);
    script.arm();
    script.tidy();
    script.commit(2);
    script.tidy();
    script.close();
}

Shift play(Scenario scenario, const fs::path& directory, FaultyDisk& disk)
{
    const ShimVfs vfs{"faulty", disk};
    Script script{directory, vfs.name(), disk};
    scenario(script);
    return script.shift;
}

History historyOf(Scenario scenario)
{
    const MemoryDirectory directory;
    FaultyDisk healthy{{}, kNever};
    const Shift shift = play(scenario, directory.path(), healthy);
    REQUIRE(!shift.error);
    return History::of(directory.path());
}

struct Tally {
    std::uint64_t faults = 0;
    std::uint64_t reported = 0;       // to the caller, as an error
    std::uint64_t atCreation = 0;     // of these: before anything was acknowledged
    std::uint64_t vanished = 0;       // a failed batch is missing: an acknowledgement would be lost
    std::uint64_t throughAnyway = 0;  // a failed batch is there after all, whole
    std::uint64_t wentOn = 0;         // after a segment that could not be closed
    std::uint64_t notWhole = 0;
    std::uint64_t bad = 0;
    std::vector<std::string> complaints;

    void complain(const std::string& what)
    {
        ++bad;
        if (complaints.size() < 10) complaints.push_back(what);
    }
};

void check(const Shift& shift, const Fault& fault, const fs::path& directory,
           const std::string& where, Tally& tally)
{
    for (const std::string& each : shift.goesOn) tally.complain(each + " after a fault: " + where);
    // Offset 18 of a SQLite file: 1 without a write-ahead log, and only so can an archive be read
    // where nothing can be written.
    for (const fs::path& file : filesOf(directory))
        if (file.filename() != kJournalName && bytesOf(file).at(18) != 1)
            tally.complain("an archive segment with a log: " + where);
    if (!shift.error) return;
    ++tally.reported;
    const JournalError& error = *shift.error;
    const std::string what = where + ": " + error.message;
    if (error.kind != JournalError::Kind::Io) tally.complain("not taken for an I/O error: " + what);
    if (error.message.find(directory.string()) == std::string::npos)
        tally.complain("the message does not name the file: " + what);
    if (fault.code == SQLITE_FULL && error.message.find("full") == std::string::npos)
        tally.complain("the message does not say that the disk is full: " + what);
}

// Where the history is not the one of the undisturbed scenario.
Verdict judgeByReceipt(const fs::path& directory, int key, const Receipt& receipt)
{
    const auto journal = openWithAnyKey({directory, kSnapshotEvery, {}}, key);
    if (!journal) return {Verdict::Kind::NotOpened, inWords(journal.error()), 0};
    try {
        const History history = History::of(directory);
        const auto moment = history.moments.find(receipt.size);
        if (moment == history.moments.end() || moment->second.root != receipt.root)
            return {Verdict::Kind::Lost, "what was acknowledged is not there", 0};
        return judge(*journal, directory, history, receipt.size);
    } catch (const std::runtime_error& error) {
        return {Verdict::Kind::Wrong, error.what(), 0};
    }
}

// Moving a long log and growing it is the same operation hundreds of times: some are enough.
bool isOneOfMany(FileOp op, const FaultyDisk::Operation& operation)
{
    return operation.step == "tidy" &&
           (op == FileOp::Read || (op == FileOp::Write && operation.file.ends_with("-wal")));
}

// Every operation of the kind fails in turn.
Tally failEach(Scenario scenario, Fault fault, const History& history)
{
    const MemoryDirectory directory;
    FaultyDisk healthy{fault, kNever};
    (void)play(scenario, directory.path(), healthy);
    const auto& operations = healthy.operations();
    Tally tally;
    for (std::uint64_t nth = 1; nth <= operations.size(); ++nth) {
        if (isOneOfMany(fault.op, operations[nth - 1]) && nth % 16 != 0) continue;
        directory.clear();
        FaultyDisk disk{fault, nth};
        const Shift shift = play(scenario, directory.path(), disk);
        REQUIRE(disk.operations().size() >= nth);
        ++tally.faults;
        const std::string where = std::string{nameOf(fault.op)} + " " + std::to_string(nth) +
                                  " fails during " + operations[nth - 1].step;
        check(shift, fault, directory.path(), where, tally);
        if (shift.acknowledged == 0) {
            ++tally.atCreation;
            continue;
        }
        const Verdict verdict =
            shift.after ? judgeByReceipt(directory.path(), shift.key, *shift.after)
                        : openAndJudge(directory.path(), shift.key, history, shift.acknowledged);
        if (shift.wentOn) ++tally.wentOn;
        if (verdict.kind != Verdict::Kind::Whole) {
            ++tally.notWhole;
            tally.complain(where + ": " + verdict.what);
        }
        if (shift.error && shift.attempted > shift.acknowledged)
            ++(verdict.size < shift.attempted ? tally.vanished : tally.throughAnyway);
    }
    return tally;
}

void report(const std::string& name, const Tally& tally)
{
    MESSAGE(name, ": ", tally.faults, " faults; reported as errors: ", tally.reported,
            " (at creation: ", tally.atCreation, "); failed batches gone: ", tally.vanished,
            ", there all the same: ", tally.throughAnyway,
            "; went on without closing a segment: ", tally.wentOn, "; bad: ", tally.bad);
    for (const std::string& each : tally.complaints) MESSAGE(each);
}

}  // namespace

TEST_CASE("whichever operation fails, the caller gets an error and nothing acknowledged is lost")
{
    struct Case {
        const char* name;
        Fault fault;
        bool inLongLog = true;
    };
    const Case cases[] = {
        {"write, I/O error", {FileOp::Write, SQLITE_IOERR_WRITE, false}},
        {"write, disk full and stays full", {FileOp::Write, SQLITE_FULL, true}},
        {"sync, I/O error", {FileOp::Sync, SQLITE_IOERR_FSYNC, false}},
        {"sync, I/O errors from then on", {FileOp::Sync, SQLITE_IOERR_FSYNC, true}},
        {"truncate, I/O error", {FileOp::Truncate, SQLITE_IOERR_TRUNCATE, false}},
        {"read, I/O error", {FileOp::Read, SQLITE_IOERR_READ, false}},
        {"delete, I/O error", {FileOp::Delete, SQLITE_IOERR_DELETE, false}},
        {"open fails", {FileOp::Open, SQLITE_CANTOPEN, false}, false},
        {"open, I/O errors from then on", {FileOp::Open, SQLITE_IOERR, true}, false},
        {"map, I/O error", {FileOp::Map, SQLITE_IOERR_SHMMAP, false}, false},
    };
    std::uint64_t faults = 0;
    for (const bool isLongLog : {false, true}) {
        const Scenario scenario = isLongLog ? longLog : life;
        const History history = historyOf(scenario);
        for (const Case& each : cases) {
            if (isLongLog && !each.inLongLog) continue;
            const Tally tally = failEach(scenario, each.fault, history);
            report(std::string{isLongLog ? "a long log, " : "life, "} + each.name, tally);
            faults += tally.faults;
            CHECK(tally.faults > 0);
            CHECK(tally.bad == 0);
            // Had a failed batch been acknowledged, its loss would have shown.
            if (each.fault.op == FileOp::Write) CHECK(tally.vanished > 0);
        }
    }
    MESSAGE("faults altogether: ", faults);
}

TEST_CASE("control: a disk that drops a write is detected")
{
    const Fault swallow{FileOp::Write, VfsWatcher::kSwallow, false};
    const Tally tally = failEach(life, swallow, historyOf(life));
    MESSAGE("writes swallowed: ", tally.faults, "; reported as errors: ", tally.reported,
            "; journals not whole: ", tally.notWhole);
    CHECK(tally.notWhole > 0);
}

TEST_CASE("a segment that cannot be closed leaves a journal that opens again")
{
    const auto begin = [](Script& script) {
        script.create();
        script.commit(5);
        script.commit(2);
    };
    const Scenario whole = [](Script& script) {
        script.create();
        script.commit(5);
        script.commit(2);
        script.closeSegment();
    };
    const History history = historyOf(whole);
    const std::string size = std::to_string(history.payloads.size() - 1);
    const std::string segment =
        "segment-000000000000-" + std::string(12 - size.size(), '0') + size + ".db";
    for (const std::string& obstacle : {segment, std::string{"journal.db.next"}}) {
        const MemoryDirectory directory;
        FaultyDisk healthy{{}, kNever};
        const ShimVfs vfs{"faulty", healthy};
        Script script{directory.path(), vfs.name(), healthy};
        begin(script);
        fs::create_directories(directory.path() / obstacle / "in the way");
        script.closeSegment();
        REQUIRE(script.shift.error);
        MESSAGE(inWords(*script.shift.error));
        CHECK(script.shift.error->message.find(directory.path()) != std::string::npos);
        CHECK(script.shift.goesOn.empty());
        fs::remove_all(directory.path() / obstacle);
        const Shift& shift = script.shift;
        const Verdict verdict =
            shift.after ? judgeByReceipt(directory.path(), 0, *shift.after)
                        : openAndJudge(directory.path(), 0, history, shift.acknowledged);
        CHECK_MESSAGE(verdict.kind == Verdict::Kind::Whole, verdict.what);
    }
}

namespace {

constexpr int kNotAllowed = 77;

// In a process of its own, because the mount is for nobody else. Its exit status.
int fillSmallDisk(const fs::path& place)
{
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return kNotAllowed;
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", place.c_str(), "tmpfs", 0, "size=256k") != 0)
        return kNotAllowed;

    const JournalSettings settings{place, kSnapshotEvery, {}};
    BusyFloor floor{kSeed};
    Receipt last;
    {
        auto journal = Journal::create(settings, testSigner(), 0);
        if (!journal) return 2;
        last = journal->lastReceipt();
        for (int i = 0; i < 10'000; ++i) {
            floor.play(*journal, 3);
            const auto receipt = journal->commit();
            if (!receipt) {
                if (receipt.error().kind != JournalError::Kind::Io ||
                    receipt.error().message.find("full") == std::string::npos)
                    return 3;
                if (journal->commit()) return 4;
                break;
            }
            last = *receipt;
        }
        if (last.size < 10) return 5;
    }
    if (::mount("tmpfs", place.c_str(), "tmpfs", MS_REMOUNT, "size=64m") != 0) return 6;
    auto journal = Journal::open(settings, testSigner(), 0);
    if (!journal || journal->size() < last.size) return 7;
    if (History::of(place).moments.at(last.size).root != last.root) return 8;
    // With room, as many again.
    for (std::uint64_t i = 0; i < last.size; ++i) {
        floor.play(*journal, 3);
        if (!journal->commit()) return 9;
    }
    return 0;
}

}  // namespace

TEST_CASE("a full disk loses nothing acknowledged, and with room the journal goes on")
{
    const MemoryDirectory directory;
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(fillSmallDisk(directory.path()));
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNotAllowed)
        MESSAGE("skipped: a small tmpfs cannot be mounted here");
    else
        CHECK_MESSAGE(WEXITSTATUS(status) == 0, "see fillSmallDisk()");
}

}  // namespace jackpot::storage
