#include "base/iso_time.h"

#include <chrono>

#include "base/encoding.h"

namespace jackpot {
namespace {

using namespace std::chrono;

std::string padded(std::uint64_t number, std::size_t width)
{
    std::string digits = std::to_string(number);
    if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
    return digits;
}

std::string clockText(TimeMs ofDayMs)
{
    const auto ms = static_cast<std::uint64_t>(ofDayMs);
    return padded(ms / 3'600'000, 2) + ":" + padded(ms / 60'000 % 60, 2) + ":" +
           padded(ms / 1000 % 60, 2) + "." + padded(ms % 1000, 3);
}

// Removes exactly `digits` digits from the text.
std::optional<int> takeNumber(std::string_view& text, std::size_t digits)
{
    if (text.size() < digits) return std::nullopt;
    int number = 0;
    for (const char c : text.substr(0, digits)) {
        if (c < '0' || c > '9') return std::nullopt;
        number = number * 10 + (c - '0');
    }
    text.remove_prefix(digits);
    return number;
}

bool take(std::string_view& text, char c)
{
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
}

std::optional<sys_days> takeDate(std::string_view& text)
{
    const auto y = takeNumber(text, 4);
    if (!y || !take(text, '-')) return std::nullopt;
    const auto m = takeNumber(text, 2);
    if (!m || !take(text, '-')) return std::nullopt;
    const auto d = takeNumber(text, 2);
    if (!d) return std::nullopt;
    const year_month_day date{year{*y}, month{static_cast<unsigned>(*m)},
                              day{static_cast<unsigned>(*d)}};
    if (!date.ok() || *y < 1970) return std::nullopt;
    return sys_days{date};
}

// "HH:MM", in milliseconds.
std::optional<TimeMs> takeHoursMinutes(std::string_view& text)
{
    const auto hours = takeNumber(text, 2);
    if (!hours || *hours > 23 || !take(text, ':')) return std::nullopt;
    const auto minutes = takeNumber(text, 2);
    if (!minutes || *minutes > 59) return std::nullopt;
    return *hours * 3'600'000LL + *minutes * 60'000LL;
}

// "12:00", "12:00:30", "12:00:30.5"
std::optional<TimeMs> takeClock(std::string_view& text)
{
    auto ms = takeHoursMinutes(text);
    if (!ms || !take(text, ':')) return ms;
    const auto seconds = takeNumber(text, 2);
    if (!seconds || *seconds > 59) return std::nullopt;
    *ms += *seconds * 1000LL;
    if (!take(text, '.')) return ms;
    std::size_t decimals = 0;
    for (TimeMs unit = 100; !text.empty() && text[0] >= '0' && text[0] <= '9'; unit /= 10) {
        if (++decimals > 3) return std::nullopt;
        *ms += *takeNumber(text, 1) * unit;
    }
    return decimals == 0 ? std::nullopt : ms;
}

}  // namespace

std::string isoTime(TimeMs timeMs)
{
    if (!isTime(timeMs)) return std::to_string(timeMs);
    return dayText(timeMs / kDayMs) + "T" + clockText(timeMs % kDayMs) + "Z";
}

std::string readableTime(TimeMs timeMs, TimeMs offsetMs)
{
    if (!isTime(timeMs)) return "time " + std::to_string(timeMs);
    const std::int64_t day = dayOf(timeMs, offsetMs);
    return dayText(day) + " " + clockText(timeMs + offsetMs - day * kDayMs);
}

std::string dayText(std::int64_t day)
{
    const year_month_day date{sys_days{days{day}}};
    return padded(static_cast<std::uint64_t>(static_cast<int>(date.year())), 4) + "-" +
           padded(static_cast<unsigned>(date.month()), 2) + "-" +
           padded(static_cast<unsigned>(date.day()), 2);
}

std::string Period::zone() const
{
    if (offsetMs == 0) return "UTC";
    const auto minutes = static_cast<std::uint64_t>(offsetMs < 0 ? -offsetMs : offsetMs) / 60'000;
    return std::string{"UTC"} + (offsetMs < 0 ? "-" : "+") + padded(minutes / 60, 2) + ":" +
           padded(minutes % 60, 2);
}

std::string Period::inWords() const
{
    std::string words;
    if (hasFrom) words += "from " + readableTime(fromMs, offsetMs);
    if (hasTo) words += (hasFrom ? " to before " : "before ") + readableTime(toMs, offsetMs);
    return (words.empty() ? "the whole journal" : words) + ", " + zone();
}

std::optional<TimeMs> parseOffset(std::string_view text)
{
    const bool west = text.starts_with('-');
    if (!take(text, '+') && !take(text, '-')) return std::nullopt;
    const auto ms = takeHoursMinutes(text);
    if (!ms || !text.empty() || *ms > 14 * 3'600'000LL) return std::nullopt;
    return west ? -*ms : *ms;
}

std::optional<TimeMs> parseTime(std::string_view text, TimeMs offsetMs)
{
    if (const auto number = parseDecimal(text)) {
        const auto ms = static_cast<TimeMs>(*number);
        return isTime(ms) ? std::optional{ms} : std::nullopt;
    }
    const auto date = takeDate(text);
    if (!date) return std::nullopt;
    TimeMs ms = milliseconds{date->time_since_epoch()}.count();
    if (!text.empty()) {
        if (!take(text, 'T') && !take(text, ' ')) return std::nullopt;
        const auto clock = takeClock(text);
        if (!clock) return std::nullopt;
        ms += *clock;
    }
    if (text.empty()) return ms - offsetMs;
    if (text == "Z") return ms;
    const auto stated = parseOffset(text);
    if (!stated) return std::nullopt;
    return ms - *stated;
}

Result<Period> periodOf(const PeriodTexts& texts)
{
    Period period;
    const auto no = [](std::string_view name, const std::string& text, std::string_view what) {
        return Error{std::string{name} + ": \"" + text + "\" is no " + std::string{what}};
    };
    if (texts.offset) {
        const auto offset = parseOffset(*texts.offset);
        if (!offset)
            return no("timezone-offset", *texts.offset, "offset: it takes +10:00 or -03:30");
        period.offsetMs = *offset;
    }
    if (texts.month) {
        if (texts.from || texts.to) return Error{"month does not go with from or to"};
        const std::string first = *texts.month + "-01";
        std::string_view rest = first;
        const auto begin = takeDate(rest);
        if (!begin || !rest.empty()) return no("month", *texts.month, "month: it takes 2026-05");
        const sys_days end{year_month_day{*begin} + months{1}};
        period.fromMs = milliseconds{begin->time_since_epoch()}.count() - period.offsetMs;
        period.toMs = milliseconds{end.time_since_epoch()}.count() - period.offsetMs;
        period.hasFrom = period.hasTo = true;
        return period;
    }
    constexpr std::string_view kTimes =
        "time: it takes 2026-05-01, 2026-05-01T12:00:00.000Z or Unix milliseconds";
    if (texts.from) {
        const auto from = parseTime(*texts.from, period.offsetMs);
        if (!from) return no("from", *texts.from, kTimes);
        period.fromMs = *from;
        period.hasFrom = true;
    }
    if (texts.to) {
        const auto to = parseTime(*texts.to, period.offsetMs);
        if (!to) return no("to", *texts.to, kTimes);
        period.toMs = *to;
        period.hasTo = true;
    }
    if (period.fromMs >= period.toMs) return Error{"from is not before to"};
    return period;
}

}  // namespace jackpot
