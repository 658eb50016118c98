// The life of a jackpot after the button: locked, held, due, final. One event's changes to the wins
// of a pool are made together; then the wins and the meter are computed again once.
#pragma once

#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "rules/handlers/context.h"
#include "rules/settlement.h"

namespace jackpot::rules {

class WinUpdate {
public:
    // Borrows the context until finish().
    explicit WinUpdate(Context& context) : context_{context}, pool_{context.pool()} {}

    // The button of the table's current round: the win takes its place at the end, and is held
    // where its press may tie with another table's, or precede it, or is impossible.
    void confirm(Table& table, std::int64_t pressedAgoMs);
    // The claims or wagers of the confirmed round changed. Without a claim it is no win any more,
    // and its press is forgotten.
    void roundChanged(Table& table, Round& round);
    // The ruling has passed checkRuling(): its groups take their places and are due.
    void rule(const std::vector<std::vector<RoundRef>>& order);
    // The win's wait has ended: it is due, or held where another table is offline.
    void endWait(Win& win);

    // Computes again from the first place that changed. Awards that come out otherwise are
    // withdrawn and due again; a win that is due and paid becomes final.
    void finish();

private:
    using AwardKey = std::tuple<std::uint32_t, std::int64_t, int, Tier>;  // table, round, seat
    // An award that was due before the update, and where it stood for payment.
    struct Standing {
        PlaceKey place;
        int step = 0;
        TimeMs arrivedMs = 0;
        Money amount;
        bool stands = false;  // it came out the same
    };
    using Group = std::span<Win* const>;

    void change(PlaceKey place);
    void takeBack(PlaceKey place, Group group);
    void remove(Table& table, Round& round);
    void hold(Win& win, std::uint64_t number);
    void holdTogether(Win& newest);
    void releaseIfNothingToRule(std::uint64_t number);
    void makeDue(Win& win);
    void settleAgain();
    void publish(Settlement&& settlement, Group group);
    void withdrawOthers();

    Context& context_;
    Pool& pool_;
    std::vector<PlaceKey> changed_;        // places to be settled whatever the meter is there
    std::map<AwardKey, Standing> before_;  // of the places that are settled again
    std::vector<PlaceKey> paid_;           // places of wins that are due and have a payment
    Money players_;                        // what changed in the players' account
    Money fromPool_;                       // and in the pool's part of it
};

// The group at this place never changes any more.
void makeFinal(Context& context, PlaceKey place);

// Tells the state of each claim of the round.
void tellClaims(Context& context, const Win& win, ClaimState claimState);

// After the wins of the pool changed.
void planNextLook(Pool& pool);

}  // namespace jackpot::rules
