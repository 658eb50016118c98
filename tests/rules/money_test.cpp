#include "rules/money.h"

#include <doctest/doctest.h>

#include <limits>
#include <type_traits>

namespace jackpot::rules {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

template <class T>
concept CanBeMoney = requires(T number)
{
    Money::ofCents(number);
};
template <class T>
concept CanScaleMoney = requires(Money money, T number)
{
    money* number;
};

}  // namespace

TEST_CASE("a wager in cents times a rate in parts per million is exact")
{
    CHECK(parseRate("0.235").value().of(Money::ofCents(500)).units() == 117'500'000);
    CHECK(parseRate("0.000001").value().of(Money::ofCents(1)).units() == 1);
    CHECK(parseRate("1").value().of(Money::ofCents(250)) == Money::ofCents(250));
}

TEST_CASE("there is no way from floating point to money")
{
    static_assert(CanBeMoney<std::int64_t> && !CanBeMoney<double> && !CanBeMoney<float>);
    static_assert(CanScaleMoney<std::int64_t> && !CanScaleMoney<double>);
    static_assert(!std::is_convertible_v<std::int64_t, Money> &&
                  !std::is_convertible_v<Money, std::int64_t>);
}

TEST_CASE("rounding goes where its name says, for negative amounts too")
{
    CHECK(Money::ofUnits(1'999'999).roundedDownToCent() == Money::ofCents(1));
    CHECK(Money::ofUnits(-1).roundedDownToCent() == Money::ofCents(-1));
    CHECK(Money::ofUnits(1).roundedUpTo(Money::ofCents(1)) == Money::ofCents(1));
    CHECK(Money::ofCents(501).roundedUpTo(Money::ofDollars(5)) == Money::ofDollars(10));
    CHECK(Money::ofDollars(5).roundedUpTo(Money::ofDollars(5)) == Money::ofDollars(5));
    CHECK(Money::ofUnits(10).dividedDown(3) == Money::ofUnits(3));
    CHECK(Money::ofUnits(10).dividedUp(3) == Money::ofUnits(4));
    CHECK(Money::ofUnits(9).dividedUp(3) == Money::ofUnits(3));
    CHECK(Money::ofUnits(-10).dividedDown(3) == Money::ofUnits(-4));
    CHECK(Money::ofUnits(-10).dividedUp(3) == Money::ofUnits(-3));
}

TEST_CASE("overflow is an error, never a wrapped amount")
{
    CHECK_THROWS_AS((void)(Money::ofUnits(kMost) + Money::ofUnits(1)), MoneyOverflow);
    CHECK_THROWS_AS((void)(Money::ofUnits(kLeast) - Money::ofUnits(1)), MoneyOverflow);
    CHECK_THROWS_AS((void)-Money::ofUnits(kLeast), MoneyOverflow);
    CHECK_THROWS_AS((void)(Money::ofUnits(kMost / 2 + 1) * 2), MoneyOverflow);
    CHECK_THROWS_AS((void)Money::ofCents(kMost / 1000), MoneyOverflow);
    CHECK_THROWS_AS((void)Money::ofDollars(kLeast), MoneyOverflow);
    CHECK_THROWS_AS((void)Money::ofUnits(kLeast + 1).roundedDownToCent(), MoneyOverflow);
    CHECK_THROWS_AS((void)Money::ofUnits(kMost).roundedUpTo(Money::ofCents(1)), MoneyOverflow);
}

TEST_CASE("amounts are read strictly")
{
    CHECK(parseMoney("2.50").value() == Money::ofCents(250));
    CHECK(parseMoney("0").value() == Money{});
    CHECK(parseMoney("-87.66").value() == Money::ofCents(-8766));
    CHECK(parseMoney("0.00000001").value() == Money::ofUnits(1));
    CHECK(parseMoney("10000000000.00").value() == kMaxAmount);
    CHECK(parseMoney("0005.00").value() == Money::ofDollars(5));
    for (const char* text : {"", "-", ".", "5.", ".5", "+5", "--5", "5 ", " 5", "1e3", "1,000",
                             "0x10", "five", "5.5.5", "0.000000001", "10000000000.00000001",
                             "99999999999999999999", "-10000000000.01", "NaN"}) {
        CAPTURE(text);
        CHECK_FALSE(parseMoney(text));
    }
    CHECK(parseMoney("12.x").error().message.find("\"12.x\"") != std::string::npos);
    CHECK_FALSE(parseMoney(std::string_view{"1\0", 2}));
}

TEST_CASE("rates are read strictly")
{
    CHECK(parseRate("0.2375").value().partsPerMillion() == 237'500);
    CHECK(parseRate("1.000000").value().partsPerMillion() == Rate::kOne);
    for (const char* text : {"", "-0.1", "1.000001", "0.0000001", "0.2.", "20%", "2"}) {
        CAPTURE(text);
        CHECK_FALSE(parseRate(text));
    }
}

TEST_CASE("amounts are written with two decimals, with eight, or for reading")
{
    CHECK(toCents(Money::ofDollars(47'500)) == "47500.00");
    CHECK(toCents(Money::ofUnits(5'000'235'00'000)) == "5000.23");
    CHECK(toCents(Money::ofCents(-5)) == "-0.05");
    CHECK(toExact(Money::ofUnits(5'000'235'00'000)) == "5000.23500000");
    CHECK(toExact(Money::ofUnits(-1)) == "-0.00000001");
    CHECK(toExact(Money::ofUnits(kLeast)) == "-92233720368.54775808");
    CHECK(toRead(Money::ofDollars(500'000)) == "$500,000.00");
    CHECK(toRead(Money::ofDollars(1'234'567)) == "$1,234,567.00");
    CHECK(toRead(Money::ofUnits(1'900'066'690'000)) == "$19,000.6669");
    CHECK(toRead(Money::ofUnits(-500'000)) == "-$0.005");
    CHECK(toText(Rate::ofPartsPerMillion(235'000)) == "0.235");
    CHECK(toText(Rate::ofPartsPerMillion(0)) == "0");
    CHECK(toText(Rate::ofPartsPerMillion(Rate::kOne)) == "1");
}

}  // namespace jackpot::rules
