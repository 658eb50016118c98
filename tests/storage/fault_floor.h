// What the failure tests do to a journal and hold against it: a gaming floor at work, the history
// that should be there, and what of it is there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "rules/state.h"
#include "storage/journal.h"
#include "tests/support/scratch.h"

namespace jackpot::storage {

// The same number gives the same key; all have the journal's name.
Signer testSigner(int number = 0);

// With this key or a later one: if the rotation of the key failed, it is not known which is in
// force.
Result<Journal, JournalError> openWithAnyKey(const JournalSettings& settings, int& key);

// Asks for more than a normal run does: JACKPOT_SOAK=1 or a larger factor.
std::uint64_t soakFactor();

// Two pools, four tables, rounds, results, jackpots, their settlement and rulings, and now and then
// what the rules refuse. Goes by the journal's state, so it can go on after a restart; the same
// seed and state give the same commands.
class BusyFloor {
public:
    explicit BusyFloor(std::uint64_t seed) : random_{seed} {}

    // At least as many commands, and what becomes due on the way.
    void play(Journal& journal, std::size_t commands);
    // A record that holds no command, of this many bytes.
    void note(Journal& journal, std::size_t bytes);

    [[nodiscard]] rules::TimeMs now(const Journal& journal);

private:
    void settleDue(Journal& journal, rules::TimeMs now);
    rules::Command next(const rules::State& state);
    rules::Command forTable(const rules::State& state, const rules::Table& table);
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

    std::mt19937_64 random_;
};

// All records of a journal that nothing happened to, and what holds after each of its commits.
struct History {
    struct Moment {
        Hash root;
        rules::State state;  // by a replay of all records from the first
    };
    std::vector<std::string> payloads;
    std::map<std::uint64_t, Moment> moments;  // by the number of records

    // Throws std::runtime_error where the files are not one journal that replays.
    static History of(const std::filesystem::path& directory);
};

// All records of all files, in order; throws SqliteFailure.
std::vector<std::string> payloadsOf(const std::filesystem::path& directory);

struct Verdict {
    enum class Kind : std::uint8_t {
        Whole,      // all that was acknowledged, no half of a batch, the state that a replay gives
        NotOpened,  // Journal::open refuses
        Lost,       // acknowledged records are not there
        Wrong,      // what is there is not what was written
    };
    Kind kind = Kind::Whole;
    std::string what;
    std::uint64_t size = 0;  // records that were found
};

// Holds an opened journal against its history, of which `acknowledged` records were acknowledged.
Verdict judge(const Journal& journal, const std::filesystem::path& directory,
              const History& history, std::uint64_t acknowledged);

// Opens it and does the same.
Verdict openAndJudge(const std::filesystem::path& directory, int key, const History& history,
                     std::uint64_t acknowledged);

}  // namespace jackpot::storage
