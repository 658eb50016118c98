#include "meters/registers.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace jackpot::meters {
namespace {

// High word first.
template <std::size_t Words>
void put(Registers& registers, std::size_t at, std::uint64_t value)
{
    for (std::size_t i = Words; i-- > 0; value >>= 16U)
        registers.at(at + i) = static_cast<std::uint16_t>(value);
}

void putText(Registers& registers, std::size_t at, std::string_view text)
{
    constexpr std::size_t kBytes = 16;
    for (std::size_t i = 0; i < std::min(text.size(), kBytes); ++i) {
        const auto byte = static_cast<std::uint16_t>(static_cast<unsigned char>(text[i]));
        registers.at(at + i / 2) |= static_cast<std::uint16_t>(i % 2 == 0 ? byte << 8U : byte);
    }
}

std::uint64_t packedBcd(std::uint64_t value)
{
    std::uint64_t packed = 0;
    for (unsigned shift = 0; shift < 64; shift += 4, value /= 10) packed |= (value % 10) << shift;
    return packed;
}

std::uint64_t unsignedOf(std::int64_t value)
{
    return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

}  // namespace

std::uint16_t statusWordOf(const PoolStatus& status)
{
    std::uint16_t word = 0;
    for (const auto& [is, bit] : {std::pair{status.open, status::kOpen},
                                  {status.pending, status::kPending},
                                  {status.winShown, status::kWinShown},
                                  {status.fault, status::kFault},
                                  {status.held, status::kHeld},
                                  {status.journalUnavailable, status::kNoJournal}})
        if (is) word |= bit;
    return word;
}

Registers registersOf(const PoolReading& reading, const PoolStatus& status)
{
    // No pool comes near: money itself ends at $92 billion, 13 digits of cents, and 37 bits of
    // dollars. A dollar amount that has no room is the largest there is, with the cents beside it.
    const std::uint64_t cents = unsignedOf(reading.displayed.cents());
    const std::uint64_t dollars =
        std::min<std::uint64_t>(cents / 100, std::numeric_limits<std::uint32_t>::max());
    Registers registers{};
    registers[address::kVersion] = kMapVersion;
    registers[address::kStatus] = statusWordOf(status);
    if (cents / 100 != dollars) registers[address::kStatus] |= status::kFault;
    put<4>(registers, address::kCents, cents);
    put<4>(registers, address::kBcd, packedBcd(cents));
    put<2>(registers, address::kDollars, dollars);
    put<2>(registers, address::kCounter, reading.changes);
    put<2>(registers, address::kChanged, unsignedOf(reading.changedUnixSeconds));
    if (reading.lastWin) {
        put<4>(registers, address::kWinCents, unsignedOf(reading.lastWin->amount.cents()));
        put<2>(registers, address::kWinTime, unsignedOf(reading.lastWin->unixSeconds));
        registers[address::kWinTier] = reading.lastWin->percent == 100 ? 1 : 2;
        putText(registers, address::kWinTable, reading.lastWin->table.view());
    }
    putText(registers, address::kPool, reading.pool.view());
    registers[address::kCounterLow] = static_cast<std::uint16_t>(reading.changes);
    return registers;
}

}  // namespace jackpot::meters
