// The registers that a driven display should hold, and the writes that bring them there. A display
// never receives an amount that does not fit its format: it receives "no amount", or a fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "meters/registers.h"

namespace jackpot::meters {

enum class Kind : std::uint8_t { Block, UInt32, UInt64, Bcd, Ascii, Float32 };

struct Format {
    Kind kind = Kind::Block;  // the whole map, as registers.h has it
    // Whole dollars, or cents; both rounded down. A Float32 in dollars has the cents behind the
    // point.
    bool dollars = false;
    std::size_t digits = 0;  // of Bcd (4 a register) and Ascii (1 a register), 1 to 16
    bool lowFirst = false;   // the register of the lowest value is the first
    std::uint16_t address = 0;
    std::optional<std::uint16_t> statusAddress;  // a Block has its status inside
    bool oneByOne = false;  // function 6, a register at a time, instead of function 16

    bool operator==(const Format&) const = default;
};

// "block", "uint32_cents", "bcd_dollars" and so on: the kind, and cents or dollars.
std::optional<Format> formatNamed(std::string_view name);

// From the address on.
std::size_t registerCount(const Format& format);

// True if a display can show that an amount does not count while it is written one by one: by its
// status, or by the amount itself (BCD with nibbles of 15, ASCII with dashes, a float with NaN).
bool isSafe(const Format& format);

struct Shown {
    std::vector<std::uint16_t> amount;  // from the address on; empty: not written
    std::uint16_t status = 0;           // written if the display has a register for it
    std::optional<std::int64_t> cents;  // that are shown, before rounding; none: no amount
    bool fits = true;

    bool operator==(const Shown&) const = default;
};

// An amount that does not fit has kFault in its status. Without a register for the status, any
// fault is written as "no amount". A display whose format has no such value is not written to: its
// own time-out detects the fault.
Shown shown(const PoolReading& reading, const PoolStatus& status, const Format& format);

struct Write {
    std::uint16_t address = 0;
    std::vector<std::uint16_t> values;

    bool operator==(const Write&) const = default;
};

// In this order, for a format that is safe. `known` is what the display holds, if that is known; if
// it equals `wanted`, everything is written again. If only the status has changed, it is written
// alone, also of a Block, which takes a slow line a tenth of a second. One by one, no mixture of
// two amounts ever counts: from before the first until after the last register, the status has
// kFault, or the amount's highest register has "no amount". A fault is written before the amount,
// its end after it.
std::vector<Write> writesFor(const Shown& wanted, const std::optional<Shown>& known,
                             const Format& format);

}  // namespace jackpot::meters
