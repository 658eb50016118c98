// Payments that differ from what was due.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "audit/report.h"
#include "rules/commands.h"

namespace jackpot::audit {

using rules::Money;

// An award, or a place without one, for which payments were recorded: what was paid in sum less
// what is due (BJ 16.19 to 16.21, UTH 11.12 to 11.15).
struct Difference {
    std::uint64_t seq = 0;  // of the record that changed it last: a payment, or what was due
    TimeMs timeMs = 0;
    std::string pool;
    rules::AwardRef award;  // of no tier where there is no award
    Money due;
    Money paid;        // in sum
    std::string how;   // of the last payment
    rules::People by;  // of the last payment

    [[nodiscard]] Money amount() const { return paid - due; }
    [[nodiscard]] std::string people() const;  // "Ann and Bob"
};

struct PaymentSum {
    std::uint64_t count = 0;
    Money amount;

    void add(Money each)
    {
        ++count;
        amount += each;
    }
};

struct PaymentTotals {
    PaymentSum payments;      // all, what was paid
    std::uint64_t exact = 0;  // awards; so are the others
    PaymentSum smallOver;
    PaymentSum smallUnder;
    PaymentSum listedOver;
    PaymentSum listedUnder;

    void add(Money difference, bool listed)
    {
        if (difference == Money{})
            ++exact;
        else if (difference.isNegative())
            (listed ? listedUnder : smallUnder).add(difference);
        else
            (listed ? listedOver : smallOver).add(difference);
    }
};

struct NamedSum {
    std::string_view name;
    std::string_view label;
    PaymentSum PaymentTotals::*sum;
};
inline constexpr std::array kSums{
    NamedSum{"overpaid_listed", "overpaid by more than $1,000", &PaymentTotals::listedOver},
    NamedSum{"underpaid_listed", "underpaid by more than $1,000", &PaymentTotals::listedUnder},
    NamedSum{"overpaid_smaller", "overpaid by $1,000 or less", &PaymentTotals::smallOver},
    NamedSum{"underpaid_smaller", "underpaid by $1,000 or less", &PaymentTotals::smallUnder},
};

struct Differences {
    std::vector<Difference> listed;  // those above $1,000, by award
    PaymentTotals totals;
    std::map<std::string, PaymentTotals> months;  // the same by month, "2026-05" in the zone
};
// As they stand at the end of the period, of the awards that changed in it: by a payment, or by a
// withdrawal or a new amount after one.
Differences collectDifferences(JournalView& journal, const ReportRequest& request,
                               const std::vector<std::string>& pools);

std::string monthOf(TimeMs timeMs, const Period& period);

}  // namespace jackpot::audit
