// Wins that wait for a ruling (BJ 14.27.4): which presses may have come at the same time or in
// another order than they arrived, and which rulings are complete. The controller can't determine
// it; it holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "rules/outcome.h"
#include "rules/state.h"

namespace jackpot::rules {

// A new press against one of another table that arrived before: they may be less than the window
// apart, or the new one may be the earlier. `latestMs` is the latest time of the press that arrived
// before, `newMs` the earliest time of the new one.
inline bool mayTieOrPrecede(TimeMs latestMs, TimeMs newMs, std::int64_t windowMs)
{
    return latestMs > newMs || (windowMs > 0 && newMs - latestMs < windowMs);
}

// Another table of the pool is offline, and its current round may still bring a press.
bool anOfflineTableMayTie(const State& state, std::uint32_t pool, std::uint32_t table);

// The press may tie with, or precede, that of another table's final win of the last 24 hours.
bool comesLate(const State& state, std::uint32_t pool, const Win& win);

// A ruling names every round of one hold once. A Blazing 7's group has at most one round of each
// table, a UTH group one round.
std::optional<Refusal> checkRuling(const State& state, const Pool& pool,
                                   const std::vector<std::vector<RoundRef>>& order);

// Why wins wait for a ruling.
enum class HoldReason : std::uint8_t { Tie, OutOfOrder, Impossible, Offline };
std::string_view idOf(HoldReason reason);  // "out_of_order"
// The reasons of the hold with this number (Win::hold), each once. Empty if a void or a correction
// has removed the wins that were the reason.
std::vector<HoldReason> reasonsOf(const Pool& pool, std::uint64_t hold);

// nullptr if the pool has no such open win.
Win* findWin(Pool& pool, std::uint32_t table, std::int64_t round);

// The rounds that wait for a ruling: one list for each, in the order of arrival.
std::vector<std::vector<RoundRef>> holdsOf(const State& state, const Pool& pool);

}  // namespace jackpot::rules
