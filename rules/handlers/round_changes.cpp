#include "rules/handlers/round_changes.h"

#include "rules/awards.h"
#include "rules/win_update.h"

namespace jackpot::rules {

bool hasFixedAward(const Context& context, const Round& round, int seat)
{
    const PayTableRow* row = findRow(context.pool().payTable, round.seat(seat).tier);
    return row && row->pays == Pays::Fixed;
}

void withdrawFixed(Context& context, Table& table, Round& round, int seat)
{
    if (!hasFixedAward(context, round, seat)) return;
    const PayTableRow& row = *findRow(context.pool().payTable, round.seat(seat).tier);
    context.ledger().withdraw(row.amount);
    context.out.withdrawn.push_back(
        {context.indexOf(table), round.number, seat, row.tier, row.amount});
    if (AwardRecord* record = findAward(table, round.number, seat, row.tier)) {
        record->state = AwardRecord::State::Withdrawn;
        record->withheld = false;
    }
    round.seat(seat).tier = Tier::None;
}

void dropClaim(Context& context, Table& table, Round& round, int number)
{
    Seat& seat = round.seat(number);
    if (!seat.claims) return;
    seat.claims = false;
    context.out.claims.push_back(
        {context.indexOf(table), round.number, number, seat.tier, ClaimState::Dropped});
}

void returnWagers(Context& context, Table& table, Round& round, const Seats& seats)
{
    const Money wager = context.pool().config.wager;
    Money stakes;
    Money fromMeter;
    Money fromReserve;
    for (int number = 1; number <= kMaxSeats; ++number) {
        Seat& seat = round.seat(number);
        if (!seat.wagered || !seats.test(static_cast<std::size_t>(number))) continue;
        dropClaim(context, table, round, number);
        stakes += wager;
        fromMeter += seat.toMeter;
        fromReserve += seat.toReserve;
        seat.wagered = false;
        seat.tier = Tier::None;
        context.out.refunds.push_back({context.indexOf(table), round.number, number, wager});
    }
    context.ledger().returnWagers(stakes, fromMeter, fromReserve);
    if (round.hasOpenWin()) {
        WinUpdate update{context};
        update.roundChanged(table, round);
        update.finish();
    } else {
        context.ledger().restoreMinimum();
    }
}

void voidRound(Context& context, Table& table, Round& round, const Seats& returned)
{
    for (int seat = 1; seat <= kMaxSeats; ++seat) dropClaim(context, table, round, seat);
    round.voided = true;
    returnWagers(context, table, round, returned);
}

Refused awardPaid()
{
    return refuse(
        RefusalCode::AwardPaid, "",
        "the round's jackpot is final: what needs undoing is an adjustment by two people");
}

}  // namespace jackpot::rules
