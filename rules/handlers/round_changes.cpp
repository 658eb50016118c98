#include "rules/handlers/round_changes.h"

#include <algorithm>

namespace jackpot::rules {

void withdrawDue(Context& context, Table& table, Round& round, int seat)
{
    const auto due = std::ranges::find(round.due, seat, &DueAward::seat);
    if (due == round.due.end()) return;
    Pool& pool = context.poolOf(table);
    context.ledger().withdraw(due->amount);
    const PayTableRow& row = *findRow(pool.payTable, due->tier);
    context.out.withdrawn.push_back({context.indexOf(table), round.number, seat, due->tier,
                                     due->amount, row.rule,
                                     Arithmetic::plain(Arithmetic::Kind::Fixed, due->amount)});
    round.due.erase(due);
}

void dropClaim(Context& context, Table& table, Round& round, int number)
{
    Seat& seat = round.seat(number);
    if (!seat.claims) return;
    seat.claims = false;
    context.out.claims.push_back(
        {context.indexOf(table), round.number, number, seat.tier, ClaimState::Dropped});
}

// Blackjack's interim settlement stands: a seat whose award is due keeps it, and its wager is
// settled (BJ 16.8, 16.16.2). UTH has none: fixed awards of the round are withdrawn.
void returnWagers(Context& context, Table& table, Round& round)
{
    const Pool& pool = context.poolOf(table);
    const bool interimStands = pool.config.game != Game::UltimateTexasHoldem;
    const auto isSettled = [&](int number) {
        const PayTableRow* row = findRow(pool.payTable, round.seat(number).tier);
        return interimStands && row && (row->pays == Pays::Fixed || round.settled);
    };
    if (!interimStands)
        for (int seat = 1; seat <= kMaxSeats; ++seat) withdrawDue(context, table, round, seat);
    returnSeats(context, table, round, [&](int seat) { return !isSettled(seat); });
}

void returnSeats(Context& context, Table& table, Round& round,
                 const std::function<bool(int)>& isReturned)
{
    Pool& pool = context.poolOf(table);
    Money stakes;
    Money fromMeter;
    Money fromReserve;
    for (int number = 1; number <= kMaxSeats; ++number) {
        Seat& seat = round.seat(number);
        if (!seat.wagered || !isReturned(number)) continue;
        dropClaim(context, table, round, number);
        stakes += pool.config.wager;
        fromMeter += seat.toMeter;
        fromReserve += seat.toReserve;
        seat.wagered = false;
        seat.tier = Tier::None;
        context.out.refunds.push_back(
            {context.indexOf(table), round.number, number, pool.config.wager});
    }
    context.ledger().returnWagers(stakes, fromMeter, fromReserve);
}

}  // namespace jackpot::rules
