#include "rules/explain.h"

#include <array>

namespace jackpot::rules {
namespace {

// Enough to follow; with more winners the last take and the sum are shown.
constexpr std::int64_t kTakesShown = 4;

std::string takesInWords(const Arithmetic& arithmetic)
{
    std::string words;
    Money left = arithmetic.displayed;
    for (std::int64_t i = 0; i < arithmetic.winners; ++i) {
        const Money take = left.dividedDown(10);
        const bool shown = i < kTakesShown || i == arithmetic.winners - 1;
        if (shown) {
            if (i > 0)
                words += i >= kTakesShown && arithmetic.winners > kTakesShown + 1 ? ", ... then "
                                                                                  : ", then ";
            words += "10 % of " + toRead(left) + " = " + toRead(take);
        }
        left -= take;
    }
    return words;
}

constexpr std::string_view kNone = "none";

std::array<NamedParameter, 11> namedValues(const PoolParameters& parameters)
{
    const auto amount = [](const std::optional<Money>& money) {
        return money ? toRead(*money) : std::string{kNone};
    };
    const auto time = [](const std::optional<std::int64_t>& ms) {
        return ms ? std::to_string(*ms) + " ms" : std::string{kNone};
    };
    const TierAmounts bonus = parameters.bonus.value_or(TierAmounts{});
    const TierAmounts guarantee = parameters.guarantee.value_or(TierAmounts{});
    return {{
        {"increment", toText(parameters.increment)},
        {"reserve increment", toText(parameters.reserveIncrement)},
        {"minimum", toRead(parameters.minimum)},
        {"cap", amount(parameters.cap)},
        {"payout unit", toRead(parameters.payoutUnit)},
        {"window", time(parameters.simultaneityWindowMs)},
        {"due after", time(parameters.settleAfterMs)},
        {"royal flush bonus", amount(bonus.royalFlush)},
        {"straight flush bonus", amount(bonus.straightFlush)},
        {"royal flush guarantee", amount(guarantee.royalFlush)},
        {"straight flush guarantee", amount(guarantee.straightFlush)},
    }};
}

}  // namespace

std::string arithmeticInWords(const Award& award)
{
    const Arithmetic& arithmetic = award.arithmetic;
    if (arithmetic.kind == Arithmetic::Kind::Fixed)
        return "fixed award of " + toRead(arithmetic.share);
    if (arithmetic.kind == Arithmetic::Kind::Bonus) return "bonus of " + toRead(arithmetic.share);

    std::string words = arithmetic.kind == Arithmetic::Kind::Tenth
                            ? takesInWords(arithmetic)
                            : "100 % of " + toRead(arithmetic.displayed);
    if (arithmetic.winners > 1)
        words += "; " + toRead(arithmetic.aggregate) + " shared by " +
                 std::to_string(arithmetic.winners);
    const Money exact = arithmetic.aggregate.dividedUp(arithmetic.winners);
    if (arithmetic.share != exact)
        words += ", up to the next " + toRead(arithmetic.payoutUnit) + " (BJ 5.12)";
    if (arithmetic.share != exact || arithmetic.winners > 1)
        words += " = " + toRead(arithmetic.share);
    if (arithmetic.winners > 1) words += " each";
    if (award.amount != arithmetic.share)
        words += "; raised to the guarantee of " + toRead(arithmetic.guarantee);
    return words;
}

std::vector<NamedParameter> parametersByName(const PoolParameters& parameters)
{
    std::vector<NamedParameter> named;
    for (const NamedParameter& each : namedValues(parameters))
        if (each.value != kNone) named.push_back(each);
    return named;
}

std::string parametersInWords(const PoolParameters& parameters)
{
    std::string text;
    for (const auto& [name, value] : parametersByName(parameters))
        text += (text.empty() ? "" : ", ") + name + " " + value;
    return text;
}

std::string changeInWords(const PoolParameters& from, const PoolParameters& to)
{
    const auto before = namedValues(from);
    const auto after = namedValues(to);
    std::string text;
    for (std::size_t i = 0; i < after.size(); ++i)
        if (before.at(i).value != after.at(i).value)
            text += (text.empty() ? "" : ", ") + after.at(i).name + " " + before.at(i).value +
                    " -> " + after.at(i).value;
    return text;
}

}  // namespace jackpot::rules
