// The numbers of the commands that a table has sent and that are journaled: 1, 2, 3, ... without
// gaps, so that nothing sent twice counts twice. The rules neither read nor change it. It is part
// of their state because it must be the same after the same records.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "rules/commands.h"

namespace jackpot::rules {

class State;

class LinkSequence {
public:
    static constexpr std::size_t kRecent = 32;
    using Records = std::array<std::uint64_t, kRecent>;  // that of number n is at n % kRecent

    LinkSequence() = default;
    // As a snapshot has stored it.
    LinkSequence(std::uint64_t last, const Records& records) : last_{last}, records_{records} {}
    bool operator==(const LinkSequence&) const = default;

    [[nodiscard]] std::uint64_t last() const { return last_; }  // 0 if there is none
    [[nodiscard]] std::uint64_t expected() const { return last_ + 1; }
    [[nodiscard]] const Records& records() const { return records_; }
    // The journal's record of a command that was decided; nothing if its number is not one of the
    // last kRecent.
    [[nodiscard]] std::optional<std::uint64_t> findRecord(std::uint64_t number) const
    {
        if (number == 0 || number > last_ || last_ - number >= kRecent) return std::nullopt;
        return records_[number % kRecent];
    }
    // The command with the expected number is in `record`.
    void add(std::uint64_t record) { records_[++last_ % kRecent] = record; }

private:
    std::uint64_t last_ = 0;
    Records records_{};
};

// Adds the command to the sequence of its table. An error if its number is not the expected one;
// then nothing has changed.
Result<void> addToSequence(State& state, const Command& command, std::uint64_t number,
                           std::uint64_t record);

}  // namespace jackpot::rules
