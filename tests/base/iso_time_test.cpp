#include "base/iso_time.h"

#include <doctest/doctest.h>

namespace jackpot {
namespace {

constexpr TimeMs kMay1 = 1'777'593'600'000;  // 2026-05-01T00:00:00Z

}  // namespace

TEST_CASE("times are written in ISO 8601, and for people in their time zone")
{
    CHECK(isoTime(0) == "1970-01-01T00:00:00.000Z");
    CHECK(isoTime(kMay1 + 123) == "2026-05-01T00:00:00.123Z");
    CHECK(isoTime(kMaxTimeMs) == "9999-12-31T23:59:59.999Z");
    CHECK(isoTime(-1) == "-1");
    CHECK(readableTime(kMay1, 10 * 3'600'000) == "2026-05-01 10:00:00.000");
    CHECK(dayText(dayOf(kMay1 - 1, 0)) == "2026-04-30");
    CHECK(dayText(dayOf(kMay1 - 1, 1)) == "2026-05-01");
}

TEST_CASE("a day, a time or milliseconds are parsed, in the given zone unless the text names one")
{
    CHECK(parseTime("2026-05-01", 0) == kMay1);
    CHECK(parseTime("2026-05-01", 10 * 3'600'000) == kMay1 - 10 * 3'600'000);
    CHECK(parseTime("2026-05-01T00:00:00.000Z", 10 * 3'600'000) == kMay1);
    CHECK(parseTime("1777593600000", 0) == kMay1);
    CHECK(parseOffset("+10:00") == 10 * 3'600'000);
    CHECK(parseOffset("-03:30") == -(3 * 60 + 30) * 60'000);
    for (const char* bad : {"", "2026-02-30", "2026-13-01", "yesterday", "2026-05-01T25:00:00Z"}) {
        CAPTURE(bad);
        CHECK_FALSE(parseTime(bad, 0));
    }
    for (const char* bad : {"", "10", "+25:00", "+10:60", "UTC"}) {
        CAPTURE(bad);
        CHECK_FALSE(parseOffset(bad));
    }
}

TEST_CASE("a period includes its begin and excludes its end")
{
    const auto may = periodOf({.from = {}, .to = {}, .month = "2026-05", .offset = "+10:00"});
    REQUIRE(may);
    CHECK(may->fromMs == kMay1 - 10 * 3'600'000);
    CHECK(may->toMs - may->fromMs == 31 * kDayMs);
    CHECK(may->contains(may->fromMs));
    CHECK_FALSE(may->contains(may->toMs));
    CHECK(may->zone() == "UTC+10:00");

    const auto all = periodOf({});
    REQUIRE(all);
    CHECK(all->contains(0));
    CHECK(all->contains(kMaxTimeMs));
    CHECK(all->zone() == "UTC");
}

TEST_CASE("an error in a period begins with the name of the wrong value")
{
    const auto errorOf = [](const PeriodTexts& texts) { return periodOf(texts).error().message; };
    CHECK(errorOf({.from = "soon", .to = {}, .month = {}, .offset = {}}).starts_with("from: "));
    CHECK(errorOf({.from = {}, .to = "soon", .month = {}, .offset = {}}).starts_with("to: "));
    CHECK(errorOf({.from = {}, .to = {}, .month = "2026-13", .offset = {}}).starts_with("month: "));
}

}  // namespace jackpot
