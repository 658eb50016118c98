#include "rules/simultaneous.h"

#include <algorithm>
#include <string>

#include "rules/settlement.h"

namespace jackpot::rules {
namespace {

std::optional<Refusal> badRuling(const std::string& why)
{
    return refuse(RefusalCode::BadRuling, "BJ 14.27.4",
                  why + ": a ruling names every held round once");
}

}  // namespace

void Simultaneity::waitOrHold()
{
    Confirmation& newest = pool_.confirmations.back();
    const TimeMs window = pool_.config.windowMs();
    const bool othersHeld =
        std::any_of(pool_.confirmations.begin(), pool_.confirmations.end() - 1,
                    [](const Confirmation& each) { return each.hold != Hold::None; });
    if (othersHeld) newest.hold = Hold::Tied;
    for (auto other = pool_.confirmations.begin(); other != pool_.confirmations.end() - 1;
         ++other) {
        const TimeMs apart = std::max(other->pressedMs, newest.pressedMs) -
                             std::min(other->pressedMs, newest.pressedMs);
        if (other->table == newest.table || apart >= window) continue;
        newest.hold = Hold::Tied;
        if (other->hold == Hold::None) {
            other->hold = Hold::Tied;
            tell(*other, ClaimState::Held);
        }
    }
    tell(newest, newest.hold == Hold::None ? ClaimState::Pending : ClaimState::Held);
}

void Simultaneity::releaseTie()
{
    std::optional<std::uint32_t> only;
    for (const Confirmation& each : pool_.confirmations) {
        if (each.hold == Hold::None) continue;
        if (each.hold == Hold::Offline || (only && *only != each.table)) return;
        only = each.table;
    }
    if (!only) return;
    for (Confirmation& each : pool_.confirmations) {
        if (each.hold == Hold::None) continue;
        each.hold = Hold::None;
        tell(each, ClaimState::Pending);
    }
    settleDue();
}

void Simultaneity::settleDue()
{
    const auto isDue = [&](const Confirmation& each) {
        return each.hold == Hold::None && each.arrivedMs + pool_.config.windowMs() <= now_;
    };
    for (auto due = std::ranges::find_if(pool_.confirmations, isDue);
         due != pool_.confirmations.end(); due = std::ranges::find_if(pool_.confirmations, isDue)) {
        if (anotherTableMayTie(*due)) {
            due->hold = Hold::Offline;
            tell(*due, ClaimState::Held);
        } else {
            settleTogether(state_, index_,
                           {static_cast<std::size_t>(due - pool_.confirmations.begin())}, out_);
        }
    }
}

bool Simultaneity::anotherTableMayTie(const Confirmation& confirmation) const
{
    return std::ranges::any_of(state_.tables, [&](const Table& other) {
        return other.pool == index_ && &other != &state_.tables[confirmation.table] &&
               other.offline && other.current.hasUnconfirmedClaims();
    });
}

void Simultaneity::tell(const Confirmation& confirmation, ClaimState claimState)
{
    const Round& round = *state_.tables[confirmation.table].findRound(confirmation.round);
    for (int seat = kMaxSeats; seat >= 1; --seat)
        if (round.seat(seat).claims)
            out_.claims.push_back(
                {confirmation.table, round.number, seat, round.seat(seat).tier, claimState});
}

std::optional<Refusal> Simultaneity::checkRuling(
    const std::vector<std::vector<RoundRef>>& order) const
{
    const auto held = std::ranges::count_if(
        pool_.confirmations, [](const Confirmation& each) { return each.hold != Hold::None; });
    if (held == 0)
        return refuse(RefusalCode::NothingHeld, "BJ 14.27.4", "no claim waits for a ruling");

    std::vector<RoundRef> named;
    for (const auto& group : order) {
        if (group.empty()) return badRuling("a group is empty");
        for (std::size_t i = 0; i < group.size(); ++i) {
            const RoundRef& ref = group[i];
            if (!findHeld(ref))
                return badRuling("round " + std::to_string(ref.round) + " of table " + ref.table +
                                 " is not held");
            if (std::any_of(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(i),
                            [&](const RoundRef& other) { return other.table == ref.table; }))
                return badRuling("a group names two rounds of table " + ref.table);
            named.push_back(ref);
        }
    }
    std::ranges::sort(named);
    if (std::ranges::adjacent_find(named) != named.end())
        return badRuling("a round is named twice");
    if (static_cast<std::ptrdiff_t>(named.size()) != held)
        return badRuling("it names " + std::to_string(named.size()) + " of " +
                         std::to_string(held) + " held rounds");
    return std::nullopt;
}

std::optional<std::size_t> Simultaneity::findHeld(const RoundRef& ref) const
{
    for (std::size_t i = 0; i < pool_.confirmations.size(); ++i) {
        const Confirmation& each = pool_.confirmations[i];
        if (each.hold != Hold::None && each.round == ref.round &&
            state_.tables[each.table].config.id == ref.table)
            return i;
    }
    return std::nullopt;
}

void Simultaneity::settleAsRuled(const std::vector<std::vector<RoundRef>>& order)
{
    for (const auto& group : order) {
        std::vector<std::size_t> together;
        for (const RoundRef& ref : group) together.push_back(*findHeld(ref));
        settleTogether(state_, index_, std::move(together), out_);
    }
}

std::vector<RoundRef> heldRounds(const State& state, const Pool& pool)
{
    std::vector<RoundRef> rounds;
    for (const Confirmation& each : pool.confirmations)
        if (each.hold != Hold::None)
            rounds.push_back({state.tables[each.table].config.id, each.round});
    return rounds;
}

}  // namespace jackpot::rules
