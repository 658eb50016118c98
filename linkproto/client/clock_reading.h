// The same instant by two clocks.
#pragma once

#include <cstdint>
#include <string>

namespace jackpot::linkproto {

struct ClockReading {
    std::int64_t bootMs =
        0;  // CLOCK_BOOTTIME: nobody sets it, and it runs while the machine sleeps
    std::int64_t wallMs = 0;  // Unix time

    static ClockReading now();
};

// Names this boot of the machine, within which bootMs can be compared. Empty where it is not known.
std::string bootId();

}  // namespace jackpot::linkproto
