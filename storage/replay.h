// Recomputing what a journal says: from each command the rules give the outcome again, and the
// record must be the same to the byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rules/state.h"
#include "storage/record.h"

namespace jackpot::storage {

// One thread at a time.
class Replay {
public:
    Replay() = default;
    // From a state that is known to be right after the records before the next.
    explicit Replay(rules::State state) : state_{std::move(state)} {}

    // Carries the record out and returns what is wrong with it, or nothing. After a fault the
    // replay must not go on.
    std::string step(std::uint64_t seq, const Record& record, std::string_view payload);

    [[nodiscard]] const rules::State& state() const { return state_; }
    [[nodiscard]] rules::State takeState() { return std::move(state_); }
    [[nodiscard]] rules::TimeMs lastTimeMs() const { return lastTimeMs_; }

private:
    std::string checkPlain(const Record& record, std::string_view payload) const;

    rules::State state_;
    rules::TimeMs lastTimeMs_ = 0;
    std::string recomputed_;
};

// The form of a snapshot's hash in its record.
std::string stateHash(std::string_view stateText);

}  // namespace jackpot::storage
