// Changes to a round that several handlers make.
#pragma once

#include <bitset>

#include "rules/handlers/context.h"

namespace jackpot::rules {

using Seats = std::bitset<kMaxSeats + 1>;  // by their number

// The seat has a fixed award that is due, withheld or not.
bool hasFixedAward(const Context& context, const Round& round, int seat);
// Withdraws the seat's fixed award, if it has one.
void withdrawFixed(Context& context, Table& table, Round& round, int seat);
void dropClaim(Context& context, Table& table, Round& round, int number);

// Returns the wagers of these seats, as far as they have one, with their contributions, and drops
// their claims. Computes the wins of the pool again where the round is one. An earlier round may be
// gone after that.
void returnWagers(Context& context, Table& table, Round& round, const Seats& seats);
// The round is void: all claims are dropped, the wagers of these seats returned.
void voidRound(Context& context, Table& table, Round& round, const Seats& returned);

Refused awardPaid();

}  // namespace jackpot::rules
