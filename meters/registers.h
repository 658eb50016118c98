// The register map: what a display reads or is sent, as docs/modbus.md has it for its vendors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace jackpot::meters {

inline constexpr std::size_t kRegisters = 40;
inline constexpr std::uint16_t kMapVersion = 1;

// Zero-based protocol addresses.
namespace address {
inline constexpr std::size_t kVersion = 0;
inline constexpr std::size_t kStatus = 1;
inline constexpr std::size_t kCents = 2;      // 4 registers
inline constexpr std::size_t kBcd = 6;        // 4
inline constexpr std::size_t kDollars = 10;   // 2
inline constexpr std::size_t kCounter = 12;   // 2
inline constexpr std::size_t kChanged = 14;   // 2
inline constexpr std::size_t kWinCents = 16;  // 4
inline constexpr std::size_t kWinTime = 20;   // 2
inline constexpr std::size_t kWinTier = 22;
inline constexpr std::size_t kWinTable = 23;  // 8
inline constexpr std::size_t kPool = 31;      // 8
inline constexpr std::size_t kCounterLow = 39;
}  // namespace address

namespace status {
inline constexpr std::uint16_t kOpen = 1U << 0U;
inline constexpr std::uint16_t kPending = 1U << 1U;
inline constexpr std::uint16_t kWinShown = 1U << 2U;
inline constexpr std::uint16_t kFault = 1U << 3U;  // the amount may be stale
inline constexpr std::uint16_t kHeld = 1U << 4U;   // for surveillance
inline constexpr std::uint16_t kNoJournal = 1U << 5U;
}  // namespace status

struct LastWin {
    std::int64_t cents = 0;
    std::int64_t unixSeconds = 0;
    std::uint16_t tier = 0;  // 1: 100 %, 2: 10 %
    std::string table;

    bool operator==(const LastWin&) const = default;
};

// What is durable and signed of a pool.
struct Reading {
    std::string pool;
    bool open = false;
    bool pending = false;
    bool held = false;
    std::int64_t cents = 0;  // never negative
    std::optional<LastWin> lastWin;

    bool operator==(const Reading&) const = default;
};

// In the order of their addresses; on the wire each is big-endian.
using Registers = std::array<std::uint16_t, kRegisters>;

// The status has kOpen, kPending and kHeld of the reading alone.
Registers registersOf(const Reading& reading, std::uint32_t changes,
                      std::int64_t changedUnixSeconds);

std::int64_t centsIn(const Registers& registers);
// Of the amount, since the daemon started.
std::uint32_t changesIn(const Registers& registers);
std::string poolIn(const Registers& registers);
std::optional<LastWin> lastWinIn(const Registers& registers);
// "open, jackpot pending"
std::string statusInWords(std::uint16_t status);

}  // namespace jackpot::meters
