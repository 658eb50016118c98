// Times and days in ISO 8601, as auditors use them. Pure functions.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jackpot {

using TimeMs = std::int64_t;  // milliseconds since 1970-01-01T00:00Z

inline constexpr TimeMs kDayMs = 86'400'000;
inline constexpr TimeMs kMaxTimeMs = 253'402'300'799'999;  // the last millisecond of 9999

constexpr bool isTime(TimeMs timeMs) { return timeMs >= 0 && timeMs <= kMaxTimeMs; }

// "2026-05-01T12:00:00.123Z"; a number out of range is written as a number.
std::string isoTime(TimeMs timeMs);
// "2026-05-01 12:00:00.123" in the zone.
std::string readableTime(TimeMs timeMs, TimeMs offsetMs = 0);

// Days since 1970-01-01 in the zone; `timeMs` must be in range.
constexpr std::int64_t dayOf(TimeMs timeMs, TimeMs offsetMs)
{
    const TimeMs local = timeMs + offsetMs;
    return (local - (local < 0 ? kDayMs - 1 : 0)) / kDayMs;
}
std::string dayText(std::int64_t day);  // "2026-05-01"

// What --from, --to, --month and --timezone-offset select: from <= time < to.
struct Period {
    TimeMs fromMs = 0;
    TimeMs toMs = std::numeric_limits<TimeMs>::max();
    TimeMs offsetMs = 0;
    bool hasFrom = false;
    bool hasTo = false;

    [[nodiscard]] bool contains(TimeMs timeMs) const { return timeMs >= fromMs && timeMs < toMs; }
    [[nodiscard]] std::string zone() const;     // "UTC", "UTC+10:00"
    [[nodiscard]] std::string inWords() const;  // "from ... to before ..."
};

// Parse "+10:00"; and "2026-05-01", "2026-05-01T12:00:00.000Z" or Unix milliseconds, in the given
// zone if the text names none. nullopt for any other text.
std::optional<TimeMs> parseOffset(std::string_view text);
std::optional<TimeMs> parseTime(std::string_view text, TimeMs offsetMs);

// The texts of the options; an empty one sets no limit.
struct PeriodTexts {
    std::optional<std::string> from;
    std::optional<std::string> to;
    std::optional<std::string> month;
    std::optional<std::string> offset;
};
// An error begins with the name of the text: "month: ...".
Result<Period> periodOf(const PeriodTexts& texts);

}  // namespace jackpot
