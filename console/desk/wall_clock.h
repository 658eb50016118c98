#pragma once

#include <chrono>

#include "rules/commands.h"

namespace jackpot::console {

inline rules::TimeMs wallClockMs()
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}  // namespace jackpot::console
