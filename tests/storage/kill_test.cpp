// SIGKILL in a loop: all acknowledged records are there when the writer starts again.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

#include "base/encoding.h"
#include "storage/replay.h"
#include "tests/storage/fault_floor.h"
#include "tests/support/random.h"
#include "tests/support/scratch.h"

namespace jackpot::storage {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The writer's process and its output lines.
class Writer {
public:
    Writer(const fs::path& directory, std::uint64_t seed, int key)
    {
        int ends[2];
        REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        from_ = ends[0];
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        std::string arguments[] = {KILL_CHILD, directory.string(), std::to_string(seed),
                                   std::to_string(key)};
        char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                        arguments[3].data(), nullptr};
        const int spawned = ::posix_spawn(&pid_, KILL_CHILD, &actions, nullptr, argv, environ);
        posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
        REQUIRE(spawned == 0);
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer()
    {
        if (pid_ > 0) kill();
        ::close(from_);
    }

    // Waits for a line that is not empty; false when the writer is gone or says nothing for long.
    bool line(std::string& out)
    {
        while (true) {
            if (const auto end = said_.find('\n'); end != std::string::npos) {
                out = said_.substr(0, end);
                said_.erase(0, end + 1);
                return true;
            }
            pollfd waiting{from_, POLLIN, 0};
            if (::poll(&waiting, 1, 20'000) <= 0) return false;
            char bytes[4096];
            const ssize_t got = ::read(from_, bytes, sizeof bytes);
            if (got <= 0) return false;
            said_.append(bytes, static_cast<std::size_t>(got));
        }
    }

    // By SIGKILL; whether it still ran.
    bool kill()
    {
        ::kill(pid_, SIGKILL);
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return WIFSIGNALED(status);
    }

private:
    pid_t pid_ = -1;
    int from_ = -1;
    std::string said_;
};

struct Said {
    bool started = false;
    bool opened = false;
    std::uint64_t receipts = 0;
    std::uint64_t size = 0;  // of the last acknowledged
};

using Receipts = std::map<std::uint64_t, std::string>;  // roots in hex, by size

void take(const std::string& line, Said& said, Receipts& all)
{
    std::istringstream words{line};
    std::string what;
    std::uint64_t size = 0;
    std::string root;
    words >> what >> size >> root;
    if (what == "start") {
        said.started = true;
        return;
    }
    REQUIRE_MESSAGE((what == "open" || what == "done"), line);
    REQUIRE(root.size() == 64);
    if (what == "open") said.opened = true;
    ++said.receipts;
    said.size = size;
    const auto [known, isNew] = all.emplace(size, root);
    CHECK_MESSAGE((isNew || known->second == root), "two roots for the size ", size);
}

void copyJournal(const fs::path& from, const MemoryDirectory& to)
{
    to.clear();
    for (const auto& entry : fs::directory_iterator{from})
        if (entry.path().extension() != ".lock" && !entry.path().string().ends_with("-shm"))
            fs::copy_file(entry.path(), to.path() / entry.path().filename());
}

struct Found {
    std::string fault;  // empty where all is well
    std::uint64_t size = 0;
};

// Every receipt that was read is a prefix of what is there. `key` is the last that was known, and
// then the current one.
Found examine(const fs::path& directory, int& key, const Receipts& receipts, bool replayAll)
{
    const auto journal = openWithAnyKey({directory, 200, {}}, key);
    if (!journal) return {inWords(journal.error()), 0};
    Found found{{}, journal->size()};
    const auto payloads = payloadsOf(directory);
    if (payloads.size() != found.size) return {"records are missing in the files", found.size};
    Frontier frontier;
    std::uint64_t confirmed = 0;
    Replay replay;
    for (std::uint64_t seq = 0; seq < payloads.size(); ++seq) {
        frontier.append(leafHash(payloads[seq]));
        if (const auto receipt = receipts.find(seq + 1); receipt != receipts.end()) {
            if (receipt->second != frontier.root().hex())
                return {"the receipt for " + std::to_string(seq + 1) + " has another root",
                        found.size};
            ++confirmed;
        }
        if (!replayAll) continue;
        const auto record = readRecord(payloads[seq]);
        if (!record) return {record.error().message, found.size};
        if (auto fault = replay.step(seq, *record, payloads[seq]); !fault.empty())
            return {fault, found.size};
    }
    if (confirmed != receipts.size())
        return {std::to_string(receipts.size() - confirmed) + " receipts are beyond the end",
                found.size};
    if (replayAll && !(replay.state() == journal->state()))
        return {"the state is not what a replay gives", found.size};
    return found;
}

struct Counters {
    std::uint64_t cycles = 0;
    std::uint64_t creationsHit = 0;   // killed before the journal was there
    std::uint64_t recoveriesHit = 0;  // killed while opening what a kill had left
    std::uint64_t commitsHit = 0;     // records beyond the last receipt that was read
};

// Lets the writer work and kills it: shortly after its start, or after some receipts.
Said runAndKill(const fs::path& directory, int key, std::mt19937_64& random, Receipts& receipts)
{
    Writer writer{directory, random(), key};
    Said said;
    std::string line;
    const bool early = below(random, 3) == 0;
    const std::uint64_t receiptsBefore = early ? 0 : 1 + below(random, 25);
    while (!said.started || said.receipts < receiptsBefore) {
        if (!writer.line(line)) break;
        take(line, said, receipts);
    }
    const auto until = Clock::now() + std::chrono::microseconds{below(random, early ? 3'000 : 600)};
    while (Clock::now() < until) std::this_thread::yield();
    REQUIRE_MESSAGE(writer.kill(), "the writer ended by itself");
    while (writer.line(line)) take(line, said, receipts);
    return said;
}

}  // namespace

TEST_CASE("a writer that is killed again and again loses nothing that it acknowledged")
{
    std::mt19937_64 random = seededRandom();
    const ScratchDirectory scratch;  // on a real disk, where a commit takes its time
    const fs::path directory = scratch / "journal";
    const MemoryDirectory copy;
    Receipts receipts;
    Counters counters;
    int key = 0;
    std::uint64_t size = 0;
    bool dirty = false;  // the last writer was killed with the journal open

    const std::uint64_t cycles = 200 * soakFactor();
    const auto tooLong = Clock::now() + std::chrono::seconds{60} * soakFactor();
    const auto enough = [&] {
        return counters.cycles >= cycles && counters.recoveriesHit >= 5 && counters.commitsHit >= 5;
    };
    while (!enough() && (counters.cycles < cycles || Clock::now() < tooLong)) {
        ++counters.cycles;
        const Said said = runAndKill(directory, key, random, receipts);
        if (!said.opened && dirty) ++counters.recoveriesHit;
        dirty = said.opened || dirty;
        if (receipts.empty()) {
            ++counters.creationsHit;
            continue;
        }
        copyJournal(directory, copy);
        const Found found = examine(copy.path(), key, receipts, counters.cycles % 25 == 0);
        REQUIRE_MESSAGE(found.fault.empty(), "after kill ", counters.cycles, ": ", found.fault);
        CHECK(found.size >= size);
        size = found.size;
        if (said.opened && found.size > said.size) ++counters.commitsHit;
    }
    copyJournal(directory, copy);
    const Found found = examine(copy.path(), key, receipts, true);
    CHECK_MESSAGE(found.fault.empty(), found.fault);
    MESSAGE("kills: ", counters.cycles, "; during a recovery: ", counters.recoveriesHit,
            "; during a commit: ", counters.commitsHit,
            "; during the creation: ", counters.creationsHit, "; receipts read: ", receipts.size(),
            "; records: ", found.size, "; segments: ", filesOf(directory).size(),
            "; receipts lost: 0");
    CHECK(counters.cycles >= 200);
    CHECK(counters.recoveriesHit > 0);
    CHECK(counters.commitsHit > 0);
}

TEST_CASE("control: a log that lost its end, or a receipt that was never given, is noticed")
{
    std::mt19937_64 random = seededRandom();
    const ScratchDirectory scratch;
    const fs::path directory = scratch / "journal";
    const MemoryDirectory copy;
    Receipts receipts;
    int key = 0;
    const fs::path log = copy.path() / "journal.db-wal";
    while (true) {
        (void)runAndKill(directory, key, random, receipts);
        if (receipts.empty()) continue;
        copyJournal(directory, copy);
        if (fs::exists(log) && fs::file_size(log) > 20'000) break;
    }
    CHECK(examine(copy.path(), key, receipts, true).fault.empty());

    copyJournal(directory, copy);
    fs::resize_file(log, 0);
    CHECK(!examine(copy.path(), key, receipts, false).fault.empty());

    copyJournal(directory, copy);
    Receipts another = receipts;
    another.rbegin()->second[0] = another.rbegin()->second[0] == '0' ? '1' : '0';
    CHECK(!examine(copy.path(), key, another, false).fault.empty());
    another = receipts;
    another[1'000'000] = std::string(64, '0');
    CHECK(!examine(copy.path(), key, another, false).fault.empty());
}

}  // namespace jackpot::storage
