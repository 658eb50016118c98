#pragma once

#include <array>

#include "rules/invariants.h"

namespace jackpot::rules {

// The postings of each cause sum to zero, and those on the meter and the reserve are exactly what
// the command changed in them.
class PostingsBalance final : public Invariant {
public:
    PostingsBalance() : Invariant{3, "postings balance"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        if (!scope.outcome) return {};
        std::array<Money, kCauses> sums{};
        Money meter = scope.before.meter;
        Money reserve = scope.before.reserve;
        for (const Posting& posting : scope.outcome->postings) {
            if (posting.pool != scope.pool) continue;
            sums.at(static_cast<std::size_t>(posting.cause)) += posting.amount;
            if (posting.account == Account::Meter) meter += posting.amount;
            if (posting.account == Account::Reserve) reserve += posting.amount;
        }
        for (std::size_t i = 0; i < sums.size(); ++i)
            if (sums.at(i) != Money{})
                return "the postings of " + std::string{idOf(static_cast<Cause>(i))} + " sum to " +
                       toExact(sums.at(i));
        const Pool& pool = scope.poolChecked();
        if (meter != pool.meter || reserve != pool.reserve)
            return "the postings lead to meter " + toExact(meter) + " and reserve " +
                   toExact(reserve) + ", the pool has " + toExact(pool.meter) + " and " +
                   toExact(pool.reserve);
        return {};
    }

private:
    static constexpr std::size_t kCauses = static_cast<std::size_t>(Cause::Adjustment) + 1;
};

}  // namespace jackpot::rules
