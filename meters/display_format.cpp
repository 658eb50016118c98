#include "meters/display_format.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace jackpot::meters {
namespace {

constexpr std::uint16_t kNoBcd = 0xFFFF;
constexpr std::uint16_t kDash = '-';
constexpr std::uint16_t kNotANumber = 0x7FC0;  // the high word; whatever the low word is

// The bits of the greatest float32 that is not above the fraction. No floating point is involved.
std::uint32_t floatBelow(std::uint64_t numerator, std::uint64_t denominator)
{
    constexpr std::uint64_t kEnd = 1U << 24U;  // significands are from half of it
    if (numerator == 0) return 0;
    std::uint32_t exponent = 127 + 23;
    std::uint64_t significand = numerator / denominator;
    for (; significand >= kEnd; significand >>= 1U) ++exponent;
    for (; significand < kEnd / 2; significand = numerator / denominator) {
        numerator <<= 1U;
        --exponent;
    }
    return exponent << 23U | static_cast<std::uint32_t>(significand & (kEnd / 2 - 1));
}

std::uint64_t powerOfTen(std::size_t digits)
{
    std::uint64_t power = 1;
    while (digits-- > 0) power *= 10;
    return power;
}

// High word first.
std::vector<std::uint16_t> words(std::uint64_t value, std::size_t count)
{
    std::vector<std::uint16_t> made(count);
    for (std::size_t i = count; i-- > 0; value >>= 16U) made[i] = static_cast<std::uint16_t>(value);
    return made;
}

std::vector<std::uint16_t> bcd(std::uint64_t value, std::size_t count)
{
    std::uint64_t packed = 0;
    for (unsigned shift = 0; shift < 64; shift += 4, value /= 10) packed |= (value % 10) << shift;
    return words(packed, count);
}

std::vector<std::uint16_t> ascii(std::uint64_t value, std::size_t count)
{
    std::vector<std::uint16_t> made(count, ' ');
    for (std::size_t i = count; i-- > 0; value /= 10) {
        made[i] = static_cast<std::uint16_t>('0' + value % 10);
        if (value < 10) break;
    }
    return made;
}

bool fits(std::uint64_t value, const Format& format)
{
    switch (format.kind) {
        case Kind::UInt32: return value <= std::numeric_limits<std::uint32_t>::max();
        case Kind::Bcd:
        case Kind::Ascii: return value < powerOfTen(format.digits);
        case Kind::Block:
        case Kind::UInt64:
        case Kind::Float32: break;
    }
    return true;
}

// Highest first.
std::vector<std::uint16_t> amountOf(std::uint64_t cents, const Format& format)
{
    const std::uint64_t value = format.dollars ? cents / 100 : cents;
    const std::size_t count = registerCount(format);
    switch (format.kind) {
        case Kind::UInt32:
        case Kind::UInt64: return words(value, count);
        case Kind::Bcd: return bcd(value, count);
        case Kind::Ascii: return ascii(value, count);
        case Kind::Float32: return words(floatBelow(cents, format.dollars ? 100 : 1), count);
        case Kind::Block: break;
    }
    return {};
}

std::vector<std::uint16_t> noAmount(const Format& format)
{
    const std::size_t count = registerCount(format);
    switch (format.kind) {
        case Kind::Bcd: return std::vector<std::uint16_t>(count, kNoBcd);
        case Kind::Ascii: return std::vector<std::uint16_t>(count, kDash);
        case Kind::Float32: return {kNotANumber, 0};
        case Kind::Block:
        case Kind::UInt32:
        case Kind::UInt64: break;
    }
    return {};
}

bool hasFault(std::uint16_t status) { return (status & status::kFault) != 0; }

std::uint16_t at(const Format& format, std::size_t index)
{
    return static_cast<std::uint16_t>(format.address + index);
}

// Writes to one register that the amount does not count.
Write guardOf(const Shown& wanted, const Format& format)
{
    const auto fault = static_cast<std::uint16_t>(wanted.status | status::kFault);
    if (format.kind == Kind::Block) return {at(format, address::kStatus), {fault}};
    if (format.statusAddress) return {*format.statusAddress, {fault}};
    const std::vector<std::uint16_t> none = noAmount(format);
    return {at(format, format.lowFirst ? none.size() - 1 : 0), {none.front()}};
}

std::vector<Write> oneByOne(const Shown& wanted, const std::optional<Shown>& known,
                            const Format& format)
{
    const bool again = known == wanted;
    const bool comparable = known && known->amount.size() == wanted.amount.size();
    std::vector<Write> writes;
    for (std::size_t i = 0; i < wanted.amount.size(); ++i)
        if (again || !comparable || known->amount[i] != wanted.amount[i])
            writes.push_back({at(format, i), {wanted.amount[i]}});
    const bool inPieces = !again && writes.size() > 1;
    if (format.statusAddress && (again || inPieces || !known || known->status != wanted.status))
        writes.push_back({*format.statusAddress, {wanted.status}});
    if (!inPieces) {
        if (hasFault(wanted.status)) std::ranges::reverse(writes);
        return writes;
    }
    const Write guard = guardOf(wanted, format);
    const auto guarded = std::ranges::find(writes, guard.address, &Write::address);
    // A Block whose status stays, and a first register that stays, are restored all the same.
    if (guarded != writes.end())
        std::rotate(guarded, guarded + 1, writes.end());
    else
        writes.push_back(
            {guard.address, {wanted.amount[std::size_t{guard.address} - format.address]}});
    writes.insert(writes.begin(), guard);
    return writes;
}

}  // namespace

std::optional<Format> formatNamed(std::string_view name)
{
    constexpr std::array<std::pair<std::string_view, Kind>, 5> kKinds{
        {{"uint32_", Kind::UInt32},
         {"uint64_", Kind::UInt64},
         {"bcd_", Kind::Bcd},
         {"ascii_", Kind::Ascii},
         {"float32_", Kind::Float32}}};
    if (name == "block") return Format{};
    for (const auto& [prefix, kind] : kKinds) {
        if (!name.starts_with(prefix)) continue;
        const std::string_view rest = name.substr(prefix.size());
        if (rest != "cents" && rest != "dollars") break;
        Format format;
        format.kind = kind;
        format.dollars = rest == "dollars";
        return format;
    }
    return std::nullopt;
}

std::size_t registerCount(const Format& format)
{
    switch (format.kind) {
        case Kind::Block: return kRegisters;
        case Kind::UInt64: return 4;
        case Kind::Bcd: return (format.digits + 3) / 4;
        case Kind::Ascii: return format.digits;
        case Kind::UInt32:
        case Kind::Float32: break;
    }
    return 2;
}

bool isSafe(const Format& format)
{
    return !format.oneByOne || format.kind == Kind::Block || format.statusAddress ||
           !noAmount(format).empty();
}

Shown shown(const PoolReading& reading, const PoolStatus& status, const Format& format)
{
    Shown made;
    const bool published = reading.changes != 0;
    if (published) made.cents = reading.displayed.cents();
    if (format.kind == Kind::Block) {
        const Registers registers = registersOf(reading, status);
        made.amount.assign(registers.begin(), registers.end());
        made.status = registers[address::kStatus];
        return made;
    }
    made.status = statusWordOf(status);
    const auto amount = static_cast<std::uint64_t>(reading.displayed.cents());
    made.fits = fits(format.dollars ? amount / 100 : amount, format);
    if (!made.fits) made.status |= status::kFault;
    if (!published || !made.fits || (hasFault(made.status) && !format.statusAddress)) {
        made.cents.reset();
        made.amount = noAmount(format);
    } else {
        made.amount = amountOf(amount, format);
    }
    if (format.lowFirst) std::ranges::reverse(made.amount);
    return made;
}

std::vector<Write> writesFor(const Shown& wanted, const std::optional<Shown>& known,
                             const Format& format)
{
    if (format.oneByOne) return oneByOne(wanted, known, format);
    const bool again = known == wanted;
    if (format.kind == Kind::Block && known && !again) {
        std::vector<std::uint16_t> withItsStatus = known->amount;
        withItsStatus[address::kStatus] = wanted.status;
        if (withItsStatus == wanted.amount)
            return {{at(format, address::kStatus), {wanted.status}}};
    }
    std::vector<Write> writes;
    if (!wanted.amount.empty() && (again || !known || known->amount != wanted.amount))
        writes.push_back({format.address, wanted.amount});
    if (format.statusAddress && (again || !known || known->status != wanted.status))
        writes.push_back({*format.statusAddress, {wanted.status}});
    if (hasFault(wanted.status)) std::ranges::reverse(writes);
    return writes;
}

}  // namespace jackpot::meters
