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
    // Takes the contributions back as they were posted; a reserve that was meanwhile spent is made
    // good by the house. The minimum is not restored yet.
    void returnWagers(Money stakes, Money fromMeter, Money fromReserve);
    void adjust(Money amount);

    void payByHouse(Money amount);
    void withdraw(Money amount);
    // The difference that settling again makes: in what players have, and in the pool's part of it.
    void changeAwards(Money players, Money fromPool);
    // Brings the meter to `target`. What is missing comes from the reserve as far as it goes, then
    // from the house; what is over goes to the reserve: resets came out smaller than they were.
    void resetTo(Money target);
    void restoreMinimum();

private:
    void post(Cause cause, Account account, Money amount);
    // A change that is applied again where an earlier place is settled again.
    void changeMeter(Money amount);

    Pool& pool_;
    std::uint32_t index_;
    Outcome& outcome_;
};

}  // namespace jackpot::rules
