// The places of a pool's open wins, and what changed the meter between them. Everything else since
// the first place is composed into one change for each gap, so that all can be computed again from
// there at a cost that does not grow with what happened.
#pragma once

#include "rules/state.h"

namespace jackpot::rules {

// At the end, for a win that arrives now.
void addPlace(Pool& pool, std::uint64_t arrival);
// The last of the arrival `key.arrival`, which has a place.
void insertMovedPlace(Pool& pool, PlaceKey key);

// Ends at `places.end()` if there is none.
std::vector<Place>::iterator findPlace(Pool& pool, PlaceKey key);

// Removes the place unless an open win is settled there or arrived there. What its group was paid
// becomes a change like any other.
void dropPlaceIfUnneeded(Pool& pool, PlaceKey key);

}  // namespace jackpot::rules
