#include "audit/chart.h"

#include <algorithm>
#include <array>

namespace jackpot::audit {
namespace {

using rules::Money;

// In tenths of a CSS pixel, so that whole numbers are fine enough.
constexpr std::int64_t kLeft = 950;
constexpr std::int64_t kRight = 7000;
constexpr std::int64_t kTop = 200;
constexpr std::int64_t kBottom = 2150;
constexpr std::int64_t kTicksAtMost = 6;

constexpr TimeMs kMinuteMs = 60'000;
constexpr TimeMs kHourMs = 60 * kMinuteMs;
constexpr std::array kTimeSteps{kMinuteMs,   5 * kMinuteMs, 15 * kMinuteMs, kHourMs,
                                3 * kHourMs, 6 * kHourMs,   12 * kHourMs,   kDayMs,
                                2 * kDayMs,  7 * kDayMs,    14 * kDayMs,    28 * kDayMs,
                                56 * kDayMs, 91 * kDayMs,   182 * kDayMs,   364 * kDayMs};

std::int64_t floorTo(std::int64_t value, std::int64_t step)
{
    const std::int64_t rest = value % step;
    return value - (rest < 0 ? rest + step : rest);
}

std::int64_t amountStep(std::int64_t rangeCents)
{
    std::int64_t step = 1;
    for (std::int64_t next = 0; step * kTicksAtMost < rangeCents; ++next)
        step = next % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}

TimeMs timeStep(TimeMs lengthMs)
{
    for (const TimeMs step : kTimeSteps)
        if (lengthMs / step < kTicksAtMost) return step;
    TimeMs step = kTimeSteps.back();
    while (lengthMs / step >= kTicksAtMost) step *= 2;
    return step;
}

std::string wholeDollars(std::int64_t cents)
{
    const std::string text = toRead(Money::ofCents(cents));
    return text.ends_with(".00") ? text.substr(0, text.size() - 3) : text;
}

class Scale {
public:
    Scale(const PoolHistory& pool, const History& history)
        : firstMs_{*history.firstMs}, lengthMs_{std::max<TimeMs>(history.lastMs - firstMs_, 1)}
    {
        const std::int64_t low = pool.lowest.displayed.cents();
        const std::int64_t high = pool.highest.displayed.cents();
        step_ = std::max<std::int64_t>(amountStep(high - low), 100);
        low_ = floorTo(low, step_);
        high_ = floorTo(high + step_ - 1, step_);
        if (low_ == high_) {
            low_ -= step_;
            high_ += step_;
        }
    }

    [[nodiscard]] std::int64_t x(TimeMs timeMs) const
    {
        return kLeft +
               std::clamp<TimeMs>(timeMs - firstMs_, 0, lengthMs_) * (kRight - kLeft) / lengthMs_;
    }
    [[nodiscard]] std::int64_t y(std::int64_t cents) const
    {
        return kBottom - (cents - low_) * (kBottom - kTop) / (high_ - low_);
    }
    [[nodiscard]] std::int64_t y(Money displayed) const { return y(displayed.cents()); }
    [[nodiscard]] std::int64_t low() const { return low_; }
    [[nodiscard]] std::int64_t high() const { return high_; }
    [[nodiscard]] std::int64_t step() const { return step_; }
    [[nodiscard]] TimeMs firstMs() const { return firstMs_; }
    [[nodiscard]] TimeMs lengthMs() const { return lengthMs_; }

private:
    TimeMs firstMs_;
    TimeMs lengthMs_;
    std::int64_t step_ = 0;
    std::int64_t low_ = 0;
    std::int64_t high_ = 0;
};

void drawAxes(Html& html, const Scale& scale, const Period& period)
{
    for (std::int64_t cents = scale.low(); cents <= scale.high(); cents += scale.step()) {
        const std::int64_t y = scale.y(cents);
        html.tags("<path class=\"grid\" d=\"M").number(kLeft).tags(" ").number(y);
        html.tags("H").number(kRight).tags("\"/><text class=\"amounts\" x=\"").number(kLeft - 60);
        html.tags("\" y=\"").number(y + 35).tags("\">").text(wholeDollars(cents)).tags("</text>\n");
    }
    const TimeMs step = timeStep(scale.lengthMs());
    const TimeMs local = scale.firstMs() + period.offsetMs;
    const TimeMs end = scale.firstMs() + scale.lengthMs();
    for (TimeMs at = floorTo(local + step - 1, step) - period.offsetMs; at <= end; at += step) {
        const std::int64_t x = scale.x(at);
        const std::string words = readableTime(at, period.offsetMs);
        html.tags("<path class=\"grid\" d=\"M").number(x).tags(" ").number(kTop);
        html.tags("V").number(kBottom + 50).tags("\"/><text class=\"times\" x=\"").number(x);
        html.tags("\" y=\"").number(kBottom + 200).tags("\">");
        html.text(step >= kDayMs ? words.substr(0, 10) : words.substr(5, 11)).tags("</text>\n");
    }
    html.tags("<text class=\"axis\" x=\"")
        .number(kLeft)
        .tags("\" y=\"90\">displayed, in dollars</text>");
    html.tags("<text class=\"axis end\" x=\"").number(kRight).tags("\" y=\"").number(kBottom + 350);
    html.tags("\">").text("time, " + period.zone()).tags("</text>\n");
}

void drawLine(Html& html, const PoolHistory& pool, const Scale& scale)
{
    const HistoryPoint& first = pool.points.front();
    html.tags("<path class=\"line\" d=\"M").number(scale.x(first.timeMs)).tags(" ");
    html.number(scale.y(first.displayed));
    for (const HistoryPoint& point : pool.points) {
        if (&point == &first) continue;
        html.tags("H").number(scale.x(point.timeMs)).tags("V").number(scale.y(point.displayed));
    }
    html.tags("H").number(kRight).tags("\"/>\n");
}

void drawMarks(Html& html, const PoolHistory& pool, const Scale& scale)
{
    html.tags("<path class=\"win\" d=\"");
    for (const HistoryEvent& event : pool.events)
        if (event.win)
            html.tags("M")
                .number(scale.x(event.timeMs))
                .tags(" ")
                .number(scale.y(event.before))
                .tags("l-48-84h96z");
    html.tags("M").number(kLeft).tags(" ").number(kBottom + 350).tags("l-48-84h96z\"/>\n");
    html.tags("<path class=\"reset\" d=\"");
    for (const HistoryEvent& event : pool.events)
        if (event.reset)
            html.tags("M")
                .number(scale.x(event.timeMs))
                .tags(" ")
                .number(scale.y(event.after))
                .tags("l-48 84h96z");
    html.tags("M").number(kLeft + 1500).tags(" ").number(kBottom + 266).tags("l-48 84h96z\"/>\n");
    html.tags("<text class=\"axis\" x=\"").number(kLeft + 90).tags("\" y=\"").number(kBottom + 350);
    html.tags("\">jackpot awarded</text><text class=\"axis\" x=\"").number(kLeft + 1590);
    html.tags("\" y=\"").number(kBottom + 350).tags("\">brought up to the minimum</text>\n");
}

}  // namespace

void drawChart(Html& html, std::int64_t number, const std::string& id, const PoolHistory& pool,
               const History& history, const Period& period)
{
    const auto wins = std::ranges::count_if(pool.events, &HistoryEvent::win);
    const auto resets = std::ranges::count_if(pool.events, &HistoryEvent::reset);
    const Scale scale{pool, history};
    html.tags("<svg viewBox=\"0 0 7200 2580\" role=\"img\" aria-labelledby=\"chart-")
        .number(number);
    html.tags("-title chart-").number(number).tags("-desc\">\n<title id=\"chart-").number(number);
    html.tags("-title\">")
        .text("What pool " + id + " displayed")
        .tags("</title>\n<desc id=\"chart-");
    html.number(number).tags("-desc\">");
    html.text("A step line from " + readableTime(*history.firstMs, period.offsetMs) + " to " +
              readableTime(history.lastMs, period.offsetMs) + ", " + period.zone() + ": lowest " +
              toRead(pool.lowest.displayed) + ", highest " + toRead(pool.highest.displayed) + "; " +
              std::to_string(wins) + " records with jackpots and " + std::to_string(resets) +
              " with a reset are marked. The table has the same events.");
    html.tags("</desc>\n");
    drawAxes(html, scale, period);
    drawLine(html, pool, scale);
    drawMarks(html, pool, scale);
    html.tags("</svg>\n");
}

}  // namespace jackpot::audit
