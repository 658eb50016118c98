// Changes to a round that several handlers make.
#pragma once

#include <functional>

#include "rules/handlers/context.h"

namespace jackpot::rules {

// Withdraws the seat's award that is due, if it has one.
void withdrawDue(Context& context, Table& table, Round& round, int seat);
void dropClaim(Context& context, Table& table, Round& round, int number);

// Returns the wagers of a void round.
void returnWagers(Context& context, Table& table, Round& round);
// Returns the wagers of the seats for which `isReturned` is true, and drops their claims.
void returnSeats(Context& context, Table& table, Round& round,
                 const std::function<bool(int)>& isReturned);

}  // namespace jackpot::rules
