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

struct Difference {
    std::uint64_t seq = 0;
    TimeMs timeMs = 0;
    std::string pool;
    rules::RecordPayment payment;
    Money due;

    [[nodiscard]] Money amount() const { return payment.paid - due; }
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
    PaymentSum payments;  // all, what was paid
    std::uint64_t exact = 0;
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
    std::vector<Difference> listed;  // those above $1,000, in the journal's order
    PaymentTotals totals;
    std::map<std::string, PaymentTotals> months;  // the same by month, "2026-05" in the zone
};
Differences collectDifferences(JournalView& journal, const ReportRequest& request,
                               const std::vector<std::string>& pools);

std::string monthOf(TimeMs timeMs, const Period& period);

}  // namespace jackpot::audit
