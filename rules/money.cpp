#include "rules/money.h"

#include <array>
#include <optional>

namespace jackpot::rules {
namespace {

constexpr int kMoneyDecimals = 8;
constexpr int kRateDecimals = 6;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// The digits of `text` as an integer scaled by ten to the power of `decimals`, or nothing if the
// text is not a plain decimal number, has more decimals, or does not fit.
std::optional<std::int64_t> parseScaled(std::string_view text, int decimals)
{
    const auto point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    const std::string_view fraction =
        point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
    if (whole.empty() || (point != std::string_view::npos && fraction.empty())) return std::nullopt;
    if (fraction.size() > static_cast<std::size_t>(decimals)) return std::nullopt;

    std::int64_t scaled = 0;
    const auto push = [&scaled](char c) {
        return isDigit(c) && !__builtin_mul_overflow(scaled, 10, &scaled) &&
               !__builtin_add_overflow(scaled, c - '0', &scaled);
    };
    for (const char c : whole)
        if (!push(c)) return std::nullopt;
    for (std::size_t i = 0; i < static_cast<std::size_t>(decimals); ++i)
        if (!push(i < fraction.size() ? fraction[i] : '0')) return std::nullopt;
    return scaled;
}

std::string quoted(std::string_view text)
{
    constexpr std::size_t kShown = 40;
    std::string out = "\"";
    for (const char c : text.substr(0, kShown)) out += (c >= ' ' && c <= '~') ? c : '?';
    return out + (text.size() > kShown ? "...\"" : "\"");
}

std::string magnitude(Money amount, std::int64_t unitsPerStep, int decimals)
{
    // Through unsigned, so that the smallest value has a magnitude too.
    const auto units = static_cast<std::uint64_t>(amount.units());
    const std::uint64_t positive = amount.isNegative() ? 0 - units : units;
    const std::uint64_t steps = positive / static_cast<std::uint64_t>(unitsPerStep);
    std::string digits = std::to_string(steps);
    const auto width = static_cast<std::size_t>(decimals);
    if (digits.size() <= width) digits.insert(0, width + 1 - digits.size(), '0');
    digits.insert(digits.size() - width, 1, '.');
    return digits;
}

}  // namespace

Result<Money> parseMoney(std::string_view text)
{
    const bool negative = text.starts_with('-');
    const auto scaled = parseScaled(negative ? text.substr(1) : text, kMoneyDecimals);
    if (!scaled || *scaled > kMaxAmount.units())
        return Error{quoted(text) +
                     " is not an amount: it takes dollars such as \"12.50\", with at most " +
                     "eight decimals and at most " + toRead(kMaxAmount)};
    return Money::ofUnits(negative ? -*scaled : *scaled);
}

Result<Rate> parseRate(std::string_view text)
{
    const auto scaled = parseScaled(text, kRateDecimals);
    if (!scaled || *scaled > Rate::kOne)
        return Error{quoted(text) +
                     " is not a rate: it takes a number from 0 to 1 such as \"0.235\", with at " +
                     "most six decimals"};
    return Rate::ofPartsPerMillion(*scaled);
}

std::string toCents(Money amount)
{
    const Money cents = amount.roundedDownToCent();
    return (cents.isNegative() ? "-" : "") + magnitude(cents, Money::kUnitsPerCent, 2);
}

std::string toExact(Money amount)
{
    return (amount.isNegative() ? "-" : "") + magnitude(amount, 1, kMoneyDecimals);
}

std::string toRead(Money amount)
{
    std::string digits = magnitude(amount, 1, kMoneyDecimals);
    const std::size_t point = digits.find('.');
    while (digits.size() > point + 3 && digits.back() == '0') digits.pop_back();
    for (std::size_t at = point; at > 3; at -= 3) digits.insert(at - 3, 1, ',');
    return (amount.isNegative() ? "-$" : "$") + digits;
}

std::string toText(Rate rate)
{
    // As if it were money: six of its eight decimals are a rate's.
    std::string digits = toExact(Money::ofUnits(rate.partsPerMillion()) * 100);
    while (digits.back() == '0') digits.pop_back();
    if (digits.back() == '.') digits.pop_back();
    return digits;
}

}  // namespace jackpot::rules
