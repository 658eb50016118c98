// A pool's days: what it had, what moved it, what it then had, and whether that agrees.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/report.h"
#include "rules/outcome.h"

namespace jackpot::audit {

using rules::Cause;
using rules::Money;

// What a pool has.
struct Amounts {
    Money meter;
    Money reserve;
    bool operator==(const Amounts&) const = default;
};

// What changes it. Signed as the pool sees it.
struct Line {
    std::string_view column;  // of CSV and JSON, without the account
    std::string_view label;
    Cause cause;
    bool meter;
    bool reserve;
};
inline constexpr std::array kLines{
    Line{"contributions", "contributions", Cause::Contribution, true, true},
    Line{"returned", "returned", Cause::Return, true, true},
    Line{"seeds", "seeds", Cause::Seed, true, false},
    Line{"made_good", "made good", Cause::MakeGood, false, true},
    Line{"from_reserve", "from reserve", Cause::FromReserve, true, true},
    Line{"paid_from_pool", "paid from the pool", Cause::Award, true, false},
    Line{"adjustments", "adjustments", Cause::Adjustment, true, false},
};

struct Day {
    std::int64_t day = 0;
    Amounts opening;
    std::array<Amounts, kLines.size()> moved;
    Amounts closing;
    Money paidByHouse;
    std::optional<std::uint64_t> firstBad;  // the first record that does not add up

    [[nodiscard]] Amounts computed() const
    {
        Amounts sum = opening;
        for (const Amounts& each : moved) {
            sum.meter += each.meter;
            sum.reserve += each.reserve;
        }
        return sum;
    }
    [[nodiscard]] bool agrees() const { return !firstBad && computed() == closing; }
    [[nodiscard]] std::string check() const
    {
        if (agrees()) return "ok";
        const Amounts sum = computed();
        return "DIFFERS: meter " + toExact(closing.meter - sum.meter) + ", reserve " +
               toExact(closing.reserve - sum.reserve) +
               (firstBad ? ", first in record " + std::to_string(*firstBad) : "");
    }
    void begin(std::int64_t newDay, Amounts amounts)
    {
        *this = Day{};
        day = newDay;
        opening = closing = amounts;
    }
    void addDay(const Day& next)
    {
        for (std::size_t i = 0; i < moved.size(); ++i) {
            moved[i].meter += next.moved[i].meter;
            moved[i].reserve += next.moved[i].reserve;
        }
        paidByHouse += next.paidByHouse;
        closing = next.closing;
        if (!firstBad) firstBad = next.firstBad;
    }
};

// Hands out the days of the period with any record, all pools of a day after each other.
using DayEnded = std::function<void(const std::string& pool, const Day& day)>;
void reconcile(JournalView& journal, const ReportRequest& request,
               const std::vector<std::string>& pools, const DayEnded& ended);

}  // namespace jackpot::audit
