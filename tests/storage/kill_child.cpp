// Works on a journal until it is killed:
//
//     kill_child DIRECTORY SEED KEY
//
// KEY is the number of the first key to try: the current one or an earlier one.
//
// A line on standard output before it opens the journal ("start"), when it has ("open SIZE ROOT"),
// and for each batch once it is acknowledged ("done SIZE ROOT"). Exits with 1, and a line on
// standard error, where the journal fails.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/storage/fault_floor.h"

namespace jackpot::storage {
namespace {

constexpr std::uint64_t kSnapshotEvery = 200;
constexpr int kKeys = 100;

// In one write, so that a kill leaves no half of a line.
void say(const std::string& line)
{
    const std::string bytes = line + "\n";
    if (::write(STDOUT_FILENO, bytes.data(), bytes.size()) < 0) std::_Exit(2);
}

void say(const char* what, const Receipt& receipt)
{
    say(what + (" " + std::to_string(receipt.size)) + " " + receipt.root.hex());
}

int fail(const char* step, const JournalError& error)
{
    std::fprintf(stderr, "kill_child: %s: %s\n", step, inWords(error).c_str());
    return 1;
}

Result<Journal, JournalError> openOrCreate(const JournalSettings& settings, int& key)
{
    auto journal = openWithAnyKey(settings, key);
    if (journal || journal.error().kind != JournalError::Kind::Refused) return journal;
    return Journal::create(settings, testSigner(key), 0);
}

int work(const JournalSettings& settings, std::uint64_t seed, int key)
{
    std::filesystem::create_directories(settings.directory);
    say("start");
    auto journal = openOrCreate(settings, key);
    if (!journal) return fail("open", journal.error());
    say("open", journal->lastReceipt());

    BusyFloor floor{seed};
    std::mt19937_64 random{seed};
    while (true) {
        floor.play(*journal, 1 + random() % 12);
        if (const auto receipt = journal->commit(); !receipt)
            return fail("commit", receipt.error());
        say("done", journal->lastReceipt());
        const auto what = random() % 200;
        if (what < 6) {
            if (const auto closed = journal->closeSegment(0); !closed)
                return fail("closeSegment", closed.error());
            say("done", journal->lastReceipt());
        } else if (what < 8 && key + 1 < kKeys) {
            if (const auto rotated = journal->rotateKey(testSigner(++key), {"A", "B"}, 0); !rotated)
                return fail("rotateKey", rotated.error());
            say("done", journal->lastReceipt());
        } else if (what == 8) {
            if (const auto tidied = journal->tidy(); !tidied) return fail("tidy", tidied.error());
        }
    }
}

}  // namespace
}  // namespace jackpot::storage

int main(int argc, char** argv)
{
    if (argc != 4) {
        std::fprintf(stderr, "usage: kill_child DIRECTORY SEED KEY\n");
        return 2;
    }
    return jackpot::storage::work({argv[1], jackpot::storage::kSnapshotEvery, {}},
                                  std::strtoull(argv[2], nullptr, 10),
                                  static_cast<int>(std::strtol(argv[3], nullptr, 10)));
}
