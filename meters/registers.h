// The register map of docs/modbus.md, and its encoding of a reading.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "meters/reading.h"

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

// In the order of their addresses; on the wire each is big-endian.
using Registers = std::array<std::uint16_t, kRegisters>;

std::uint16_t statusWordOf(const PoolStatus& status);
// Of an id that is longer than its registers they have the beginning. An amount whose dollars do
// not fit theirs has kFault.
Registers registersOf(const PoolReading& reading, const PoolStatus& status);

}  // namespace jackpot::meters
