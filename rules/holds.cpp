#include "rules/holds.h"

#include <algorithm>
#include <string>

namespace jackpot::rules {
namespace {

std::optional<Refusal> badRuling(const Pool& pool, const std::string& why)
{
    return refuse(RefusalCode::BadRuling, ruleOf(pool.config.game, "BJ 14.27.4", "UTH 15.2.13"),
                  why + ": a ruling names every round of one hold once");
}

std::uint64_t holdOf(const State& state, const Pool& pool, const RoundRef& ref)
{
    for (const Win& win : pool.wins)
        if (win.round == ref.round && state.tables[win.table].config.id == ref.table)
            return win.hold;
    return 0;
}

}  // namespace

bool anOfflineTableMayTie(const State& state, std::uint32_t pool, std::uint32_t table)
{
    for (std::uint32_t i = 0; i < state.tables.size(); ++i) {
        const Table& other = state.tables[i];
        if (other.pool != pool || i == table || !other.offline) continue;
        const Round& round = other.current;
        if (round.isOpen() && round.hasWagers() &&
            (!round.resultIn || round.hasUnconfirmedClaims()))
            return true;
    }
    return false;
}

bool comesLate(const State& state, std::uint32_t pool, const Win& win)
{
    const std::int64_t windowMs = state.pools[pool].config.windowMs();
    for (std::uint32_t i = 0; i < state.tables.size(); ++i) {
        const auto& known = state.tables[i].lastFinal;
        if (known && i != win.table && state.tables[i].pool == pool &&
            win.arrivedMs - known->arrivedMs < kFinalAfterMs &&
            mayTieOrPrecede(known->pressedMs, win.pressedMs, windowMs))
            return true;
    }
    return false;
}

std::optional<Refusal> checkRuling(const State& state, const Pool& pool,
                                   const std::vector<std::vector<RoundRef>>& order)
{
    if (!pool.isHeld())
        return refuse(RefusalCode::NothingHeld,
                      ruleOf(pool.config.game, "BJ 14.27.4", "UTH 15.2.13"),
                      "no win waits for a ruling");

    std::vector<RoundRef> named;
    std::uint64_t hold = 0;
    for (const auto& group : order) {
        if (group.empty()) return badRuling(pool, "a group is empty");
        if (group.size() > 1 && pool.config.game == Game::UltimateTexasHoldem)
            return badRuling(pool, "UTH knows the same time only within a round");
        for (std::size_t i = 0; i < group.size(); ++i) {
            const RoundRef& ref = group[i];
            const std::uint64_t held = holdOf(state, pool, ref);
            const std::string name =
                "round " + std::to_string(ref.round) + " of table " + ref.table;
            if (held == 0) return badRuling(pool, name + " is not held");
            if (hold != 0 && held != hold)
                return badRuling(pool, name + " waits for another ruling");
            hold = held;
            if (std::any_of(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(i),
                            [&](const RoundRef& other) { return other.table == ref.table; }))
                return badRuling(pool, "a group names two rounds of table " + ref.table);
            named.push_back(ref);
        }
    }
    std::ranges::sort(named);
    if (std::ranges::adjacent_find(named) != named.end())
        return badRuling(pool, "a round is named twice");
    const auto held = std::ranges::count(pool.wins, hold, &Win::hold);
    if (named.empty() || static_cast<std::ptrdiff_t>(named.size()) != held)
        return badRuling(pool, "it names " + std::to_string(named.size()) + " of " +
                                   std::to_string(held) + " held rounds");
    return std::nullopt;
}

std::string_view idOf(HoldReason reason)
{
    switch (reason) {
        case HoldReason::Tie: return "tie";
        case HoldReason::OutOfOrder: return "out_of_order";
        case HoldReason::Impossible: return "impossible";
        case HoldReason::Offline: return "offline";
    }
    return {};
}

std::vector<HoldReason> reasonsOf(const Pool& pool, std::uint64_t hold)
{
    const std::int64_t windowMs = pool.config.windowMs();
    bool tie = false;
    bool outOfOrder = false;
    bool impossible = false;
    bool offline = false;
    for (const Win& later : pool.wins) {
        if (hold == 0 || later.hold != hold) continue;
        impossible = impossible || (later.holdsItself && later.impossible);
        offline = offline || (later.holdsItself && !later.impossible);
        for (const Win& win : pool.wins) {
            if (win.hold != hold || win.table == later.table || win.order >= later.order) continue;
            outOfOrder = outOfOrder || win.latestPressMs() > later.pressedMs;
            tie = tie || (later.pressedMs - win.latestPressMs() < windowMs &&
                          win.pressedMs - later.latestPressMs() < windowMs);
        }
    }
    std::vector<HoldReason> reasons;
    if (tie) reasons.push_back(HoldReason::Tie);
    if (outOfOrder) reasons.push_back(HoldReason::OutOfOrder);
    if (impossible) reasons.push_back(HoldReason::Impossible);
    if (offline) reasons.push_back(HoldReason::Offline);
    return reasons;
}

Win* findWin(Pool& pool, std::uint32_t table, std::int64_t round)
{
    const auto found = std::ranges::find_if(
        pool.wins, [&](const Win& win) { return win.table == table && win.round == round; });
    return found == pool.wins.end() ? nullptr : &*found;
}

std::vector<std::vector<RoundRef>> holdsOf(const State& state, const Pool& pool)
{
    std::vector<std::uint64_t> numbers;
    std::vector<std::vector<RoundRef>> holds;
    for (const Win& win : pool.wins) {
        if (win.hold == 0) continue;
        const auto known = std::ranges::find(numbers, win.hold);
        const auto index = static_cast<std::size_t>(known - numbers.begin());
        if (known == numbers.end()) {
            numbers.push_back(win.hold);
            holds.emplace_back();
        }
        holds[index].push_back({state.tables[win.table].config.id, win.round});
    }
    return holds;
}

}  // namespace jackpot::rules
