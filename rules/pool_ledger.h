// The only place where a pool's money moves: each movement changes the meter, the reserve and the
// totals together and posts both its sides.
#pragma once

#include "rules/outcome.h"
#include "rules/state.h"

namespace jackpot::rules {

// Borrows all three for the length of one command.
class PoolLedger {
public:
    PoolLedger(Pool& pool, std::uint32_t index, Outcome& outcome)
        : pool_{pool}, index_{index}, outcome_{outcome}
    {}

    void open(Money amount);
    void takeWagers(Money stakes, Money toMeter, Money toReserve);
    // Takes the contributions back as they were posted, all of them before the minimum is restored;
    // a reserve that was meanwhile spent is made good by the house.
    void returnWagers(Money stakes, Money fromMeter, Money fromReserve);
    void adjust(Money amount);

    void payByHouse(Money amount);
    void withdraw(Money amount);
    // The pool pays the aggregate, the house what rounding and guarantees add.
    void payFromPool(Money aggregate, Money paid);
    // Brings the meter up to `target`: from the reserve as far as it goes, then from the house.
    void raiseMeterTo(Money target);
    void restoreMinimum();

private:
    void post(Cause cause, Account account, Money amount);
    // A change that a later settlement of an earlier moment applies again.
    void changeMeter(Money amount);

    Pool& pool_;
    std::uint32_t index_;
    Outcome& outcome_;
};

}  // namespace jackpot::rules
