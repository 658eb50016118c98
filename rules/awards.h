// The awards of a table that are known for payments and withholding.
#pragma once

#include "rules/state.h"

namespace jackpot::rules {

// nullptr if the seat never had such an award, or so long ago that it is not known any more.
AwardRecord* findAward(Table& table, std::int64_t round, std::int64_t seat, Tier tier);
const AwardRecord* findAward(const Table& table, std::int64_t round, std::int64_t seat, Tier tier);

// Records an award that is now due or locked; the record of an earlier one for the same round, seat
// and tier goes on, with its payments.
AwardRecord& recordAward(Table& table, std::int64_t round, const WinAward& award, bool due);
// The same for an award that cannot have been made before.
AwardRecord& recordNewAward(Table& table, std::int64_t round, const WinAward& award, bool due);

// An award of the round, or of one seat of it, has a recorded payment or is withheld.
bool isPaidOrWithheld(const Table& table, std::int64_t round,
                      std::optional<std::int64_t> seat = std::nullopt);

}  // namespace jackpot::rules
