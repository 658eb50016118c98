// Money in integer units of 1e-8 dollar, so that a wager in cents times a rate in parts per million
// is exact. There is no floating point, every rounding names its direction, and overflow throws
// MoneyOverflow: amounts that come from outside are bounded long before (see kMaxAmount), so that
// an overflow inside the rules is a fault of ours, never an answer.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jackpot::rules {

class MoneyOverflow : public std::overflow_error {
public:
    MoneyOverflow() : std::overflow_error{"an amount of money left the range of 64 bits"} {}
};

class Money {
public:
    static constexpr std::int64_t kUnitsPerCent = 1'000'000;
    static constexpr std::int64_t kUnitsPerDollar = 100 * kUnitsPerCent;

    constexpr Money() = default;
    static constexpr Money ofUnits(std::int64_t units) { return Money{units}; }
    static constexpr Money ofCents(std::int64_t cents) { return Money{cents} * kUnitsPerCent; }
    static constexpr Money ofDollars(std::int64_t dollars)
    {
        return Money{dollars} * kUnitsPerDollar;
    }
    static Money ofUnits(std::floating_point auto) = delete;
    static Money ofCents(std::floating_point auto) = delete;
    static Money ofDollars(std::floating_point auto) = delete;

    [[nodiscard]] constexpr std::int64_t units() const { return units_; }

    constexpr auto operator<=>(const Money&) const = default;

    constexpr Money operator-() const { return Money{} - *this; }
    constexpr Money& operator+=(Money other)
    {
        if (__builtin_add_overflow(units_, other.units_, &units_)) throw MoneyOverflow{};
        return *this;
    }
    constexpr Money& operator-=(Money other)
    {
        if (__builtin_sub_overflow(units_, other.units_, &units_)) throw MoneyOverflow{};
        return *this;
    }
    friend constexpr Money operator+(Money a, Money b) { return a += b; }
    friend constexpr Money operator-(Money a, Money b) { return a -= b; }
    friend constexpr Money operator*(Money a, std::int64_t times)
    {
        if (__builtin_mul_overflow(a.units_, times, &a.units_)) throw MoneyOverflow{};
        return a;
    }
    friend Money operator*(Money, std::floating_point auto) = delete;

    [[nodiscard]] constexpr bool isNegative() const { return units_ < 0; }
    [[nodiscard]] constexpr bool isWholeCents() const { return units_ % kUnitsPerCent == 0; }

    // Of an amount in whole cents, as one that is displayed or paid is.
    [[nodiscard]] constexpr std::int64_t cents() const { return units_ / kUnitsPerCent; }

    // Towards minus infinity, as a displayed amount must never promise more than there is.
    [[nodiscard]] constexpr Money roundedDownToCent() const
    {
        return Money{floorMultiple(kUnitsPerCent)};
    }
    // `unit` is positive.
    [[nodiscard]] constexpr Money roundedUpTo(Money unit) const
    {
        const Money down{floorMultiple(unit.units_)};
        return down == *this ? down : down + unit;
    }
    // `parts` is positive; both round to 1e-8 dollar.
    [[nodiscard]] constexpr Money dividedDown(std::int64_t parts) const
    {
        return Money{floorMultiple(parts) / parts};
    }
    [[nodiscard]] constexpr Money dividedUp(std::int64_t parts) const
    {
        return dividedDown(parts) + Money{units_ % parts == 0 ? 0 : 1};
    }

private:
    constexpr explicit Money(std::int64_t units) : units_{units} {}

    [[nodiscard]] constexpr std::int64_t floorMultiple(std::int64_t of) const
    {
        const std::int64_t rest = units_ % of;
        Money floor{units_ - rest};
        if (rest < 0) floor -= Money{of};
        return floor.units_;
    }

    std::int64_t units_ = 0;
};

// The largest amount that configuration or a command may name. Totals are kept below kMaxTotal,
// which leaves room in 64 bits (about 92 thousand million dollars) for whatever is still under way.
inline constexpr Money kMaxAmount = Money::ofDollars(10'000'000'000);
inline constexpr Money kMaxTotal = Money::ofDollars(30'000'000'000);

// A share of a wager, in parts per million.
class Rate {
public:
    static constexpr std::int64_t kOne = 1'000'000;

    constexpr Rate() = default;
    static constexpr Rate ofPartsPerMillion(std::int64_t parts) { return Rate{parts}; }

    [[nodiscard]] constexpr std::int64_t partsPerMillion() const { return parts_; }
    constexpr auto operator<=>(const Rate&) const = default;

    // Exact for any number of whole cents.
    [[nodiscard]] constexpr Money of(Money wholeCents) const
    {
        return Money::ofUnits(wholeCents.units() / Money::kUnitsPerCent) * parts_;
    }

private:
    constexpr explicit Rate(std::int64_t parts) : parts_{parts} {}
    std::int64_t parts_ = 0;
};

// "-12.34": digits, at most eight decimals, no exponent, no sign but a minus, within kMaxAmount.
Result<Money> parseMoney(std::string_view text);
// "0.235": digits, at most six decimals, between 0 and 1.
Result<Rate> parseRate(std::string_view text);

std::string toCents(Money amount);  // "47500.00"; the amount is rounded down to the cent
std::string toExact(Money amount);  // "47500.00000000"
std::string toRead(Money amount);  // "$47,500.00", "-$0.005": at least two decimals, all that count
std::string toText(Rate rate);     // "0.235"

}  // namespace jackpot::rules
