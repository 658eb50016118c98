#include "rules/timeline.h"

#include <algorithm>

namespace jackpot::rules {

void addPlace(Pool& pool, std::uint64_t arrival)
{
    if (pool.places.empty()) pool.base = pool.meter;
    const Change none = Change::none(pool.config.minimum);
    pool.places.push_back({{arrival, 0, 0}, pool.meter, {}, none, none});
}

void insertMovedPlace(Pool& pool, PlaceKey key)
{
    const Money minimum = pool.config.minimum;
    const Change none = Change::none(minimum);
    const auto next = std::ranges::lower_bound(pool.places, key, {}, &Place::key);
    Place& last = *std::prev(next);
    Place moved{key, {}, {}, none, last.since};
    last.since = none;
    moved.before = last.after(minimum);
    pool.places.insert(next, moved);
}

std::vector<Place>::iterator findPlace(Pool& pool, PlaceKey key)
{
    const auto found = std::ranges::lower_bound(pool.places, key, {}, &Place::key);
    return found != pool.places.end() && found->key == key ? found : pool.places.end();
}

void dropPlaceIfUnneeded(Pool& pool, PlaceKey key)
{
    const auto place = findPlace(pool, key);
    if (place == pool.places.end()) return;
    if (std::ranges::any_of(pool.wins, [&key](const Win& win) {
            return win.place == key || (key.ruling == 0 && win.order == key.arrival);
        }))
        return;

    Change here = Change::none(pool.config.minimum);
    here.then(-place->paid, pool.config.minimum);
    here.then(place->finals);
    if (place == pool.places.begin()) {
        pool.base = place->since.appliedTo(here.appliedTo(pool.base));
    } else if (Place& former = *std::prev(place); former.key.arrival == key.arrival) {
        former.finals.then(here);
        former.since = place->since;
    } else {
        former.since.then(here);
        former.since.then(place->since);
    }
    pool.places.erase(place);
}

}  // namespace jackpot::rules
