// What the registers of a driven display are to hold, and the writes that bring them there. A
// display is never told an amount that it cannot hold: it is told that there is none, or of a
// fault.
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

// Whether a display can be told that an amount does not count while it is written one by one: by
// its status, or by the amount itself, which BCD does with nibbles of 15, ASCII with dashes and a
// float by not being a number.
bool isSafe(const Format& format);

struct Shown {
    std::vector<std::uint16_t> amount;  // from the address on; none: they are left alone
    std::uint16_t status = 0;           // to be written where the display has a register for it
    std::optional<std::int64_t> cents;  // that are told, before rounding; none: no amount
    bool fits = true;

    bool operator==(const Shown&) const = default;
};

// What does not fit has kFault in its status. Without a register for the status any fault is told
// as no amount, and by a display that cannot say so, not at all: it is not written to, and notices
// by its own time-out.
Shown shown(const Registers& registers, const Format& format);

struct Write {
    std::uint16_t address = 0;
    std::vector<std::uint16_t> values;

    bool operator==(const Write&) const = default;
};

// In this order, for a format that is safe. `known` is what the display holds, where that is known;
// where it is what is wanted, everything is written again. Where only the status has changed it is
// written alone, also of a Block, which takes a slow line a tenth of a second. One by one, no
// mixture of two amounts ever counts: the status has kFault, or the amount's highest register says
// that there is none, from before the first until after the last register. A fault is told before
// the amount, its end after it.
std::vector<Write> writesFor(const Shown& wanted, const std::optional<Shown>& known,
                             const Format& format);

}  // namespace jackpot::meters
