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

std::int64_t numberIn(const Registers& registers, std::size_t at, std::size_t count)
{
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < count; ++i) number = number << 16U | registers.at(at + i);
    return static_cast<std::int64_t>(number);
}

std::string textIn(const Registers& registers, std::size_t at)
{
    std::string text;
    for (std::size_t i = at; i < at + 8; ++i)
        for (const int byte : {registers.at(i) >> 8, registers.at(i) & 0xFF})
            if (byte != 0) text += static_cast<char>(byte);
    return text;
}

}  // namespace

Registers registersOf(const Reading& reading, std::uint32_t changes,
                      std::int64_t changedUnixSeconds)
{
    // No pool comes near: money itself ends at $92 billion, 13 digits of cents, and 37 bits of
    // dollars. A dollar amount that has no room is the largest there is, with the cents beside it.
    const std::uint64_t cents = unsignedOf(reading.cents);
    const std::uint64_t dollars =
        std::min<std::uint64_t>(cents / 100, std::numeric_limits<std::uint32_t>::max());
    Registers registers{};
    registers[address::kVersion] = kMapVersion;
    registers[address::kStatus] = static_cast<std::uint16_t>(
        (reading.open ? status::kOpen : 0U) | (reading.pending ? status::kPending : 0U) |
        (reading.held ? status::kHeld : 0U) | (cents / 100 != dollars ? status::kFault : 0U));
    put<4>(registers, address::kCents, cents);
    put<4>(registers, address::kBcd, packedBcd(cents));
    put<2>(registers, address::kDollars, dollars);
    put<2>(registers, address::kCounter, changes);
    put<2>(registers, address::kChanged, unsignedOf(changedUnixSeconds));
    if (reading.lastWin) {
        put<4>(registers, address::kWinCents, unsignedOf(reading.lastWin->cents));
        put<2>(registers, address::kWinTime, unsignedOf(reading.lastWin->unixSeconds));
        registers[address::kWinTier] = reading.lastWin->tier;
        putText(registers, address::kWinTable, reading.lastWin->table);
    }
    putText(registers, address::kPool, reading.pool);
    registers[address::kCounterLow] = static_cast<std::uint16_t>(changes);
    return registers;
}

std::int64_t centsIn(const Registers& registers) { return numberIn(registers, address::kCents, 4); }

std::uint32_t changesIn(const Registers& registers)
{
    return static_cast<std::uint32_t>(numberIn(registers, address::kCounter, 2));
}

std::string poolIn(const Registers& registers) { return textIn(registers, address::kPool); }

std::optional<LastWin> lastWinIn(const Registers& registers)
{
    LastWin win{numberIn(registers, address::kWinCents, 4),
                numberIn(registers, address::kWinTime, 2), registers[address::kWinTier],
                textIn(registers, address::kWinTable)};
    if (win.tier == 0) return std::nullopt;
    return win;
}

std::string statusInWords(std::uint16_t status)
{
    constexpr std::array<std::pair<std::uint16_t, std::string_view>, 5> kWords{{
        {status::kPending, "jackpot pending"},
        {status::kHeld, "held for surveillance"},
        {status::kWinShown, "jackpot won"},
        {status::kNoJournal, "journal unavailable"},
        {status::kFault, "fault"},
    }};
    std::string text = (status & status::kOpen) != 0 ? "open" : "closed";
    for (const auto& [bit, word] : kWords)
        if ((status & bit) != 0) text.append(", ").append(word);
    return text;
}

}  // namespace jackpot::meters
