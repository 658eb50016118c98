// Wins at the same time on different tables (BJ 14.27.4): which confirmations wait, which are held
// for Surveillance, and what becomes due. The controller cannot determine identical moments; it
// holds.
#pragma once

#include <optional>
#include <vector>

#include "rules/commands.h"
#include "rules/outcome.h"
#include "rules/state.h"

namespace jackpot::rules {

// Borrows all for the length of one command on this pool.
class Simultaneity {
public:
    Simultaneity(State& state, std::uint32_t pool, TimeMs now, Outcome& outcome)
        : state_{state}, index_{pool}, pool_{state.pools[pool]}, now_{now}, out_{outcome}
    {}

    // The newest confirmation: does its press tie with another table's, or are others held?
    void waitOrHold();

    // Settles each lone confirmation whose window has passed, unless another table of the pool is
    // offline with an unconfirmed claim: then it is held until a ruling.
    void settleDue();

    // After a void: if it leaves only one table in the tie, nothing is left to rule on. A
    // confirmation that was held because a table was offline stays so until a ruling, and those
    // that joined it with it.
    void releaseTie();

    // A ruling names every held round once, and no group holds two rounds of one table.
    [[nodiscard]] std::optional<Refusal> checkRuling(
        const std::vector<std::vector<RoundRef>>& order) const;
    // Settles the groups in the order of a ruling that checkRuling() has passed.
    void settleAsRuled(const std::vector<std::vector<RoundRef>>& order);

private:
    [[nodiscard]] std::optional<std::size_t> findHeld(const RoundRef& ref) const;
    [[nodiscard]] bool anotherTableMayTie(const Confirmation& confirmation) const;
    void tell(const Confirmation& confirmation, ClaimState claimState);

    State& state_;
    std::uint32_t index_;
    Pool& pool_;
    TimeMs now_;
    Outcome& out_;
};

// The rounds of the pool that wait for a ruling, in the order of their confirmations.
std::vector<RoundRef> heldRounds(const State& state, const Pool& pool);

}  // namespace jackpot::rules
