// Random histories of a gaming floor, as small numbers that shrink well.
#pragma once

#include <cstdint>
#include <ostream>

#include "rules/commands.h"
#include "rules/state.h"

namespace jackpot::rules {

// One step. `kind` is below kMoveKinds.
struct Move {
    std::uint8_t kind = 0;
    std::uint8_t table = 0;
    std::uint8_t a = 0;
    std::uint8_t b = 0;
    std::uint32_t ms = 0;
};
inline constexpr std::uint8_t kMoveKinds = 25;

std::ostream& operator<<(std::ostream& out, const Move& move);

// What the move means for the state at hand: mostly what comes next at the table.
Command commandFor(const State& state, const Move& move);

}  // namespace jackpot::rules
