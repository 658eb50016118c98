// The wall clock as the project counts time.
#pragma once

#include <chrono>
#include <cstdint>

namespace jackpot {

// Milliseconds since 1970-01-01 00:00 UTC.
inline std::int64_t wallClockMs()
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}  // namespace jackpot
