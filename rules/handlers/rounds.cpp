// Wagers are locked: a round opens.
#include <algorithm>
#include <bitset>

#include "rules/handlers/handlers.h"

namespace jackpot::rules {
namespace {

Refused checkWagers(Context& context, const OpenRound& command, const Table& table)
{
    std::bitset<kMaxSeats + 1> seen;
    for (std::size_t i = 0; i < command.wagers.size(); ++i) {
        const Wager& wager = command.wagers[i];
        if (wager.seat < 1 || wager.seat > table.config.seats)
            return refuse(RefusalCode::SeatOutOfRange, context.rule("BJ 2.2.1", "UTH 2.2.1"),
                          seatText(wager.seat) + ": the table has seats 1 to " +
                              std::to_string(table.config.seats));
        const auto seat = static_cast<std::size_t>(wager.seat);
        if (seen.test(seat))
            return refuse(RefusalCode::DuplicateSeat, context.rule("BJ 5.6", "UTH 5.7"),
                          seatText(wager.seat) + " has more than one jackpot wager");
        seen.set(seat);
        if (!wager.baseWager)
            return refuse(RefusalCode::NoBaseWager, context.rule("BJ 14.7", "UTH 15.2.1"),
                          seatText(wager.seat) + " has a jackpot wager without a base wager");
        if (table.config.requirePlayerCard && wager.playerCard.empty())
            return refuse(RefusalCode::NoPlayerCard, context.rule("BJ 5.1", "UTH 5.1"),
                          seatText(wager.seat) + " has no player card");
        if (context.game() == Game::UltimateTexasHoldem && !wager.playerCard.empty() &&
            std::any_of(command.wagers.begin(),
                        command.wagers.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const Wager& other) { return other.playerCard == wager.playerCard; }))
            return refuse(
                RefusalCode::PlayerWagersTwice, "UTH 5.6",
                seatText(wager.seat) + " has a player card that wagers on another seat too");
    }
    return kAccepted;
}

// Seat by seat from 1 up; what would take the meter past the cap goes to the reserve.
void contribute(Context& context, Pool& pool, Round& round)
{
    const Money full = pool.config.increment.of(pool.config.wager);
    const Money reserved = pool.config.reserveIncrement.of(pool.config.wager);
    Money stakes;
    Money toMeter;
    Money toReserve;
    for (Seat& seat : round.seats) {
        if (!seat.wagered) continue;
        seat.toMeter = full;
        if (pool.config.cap)
            seat.toMeter = std::clamp(*pool.config.cap - (pool.meter + toMeter), Money{}, full);
        seat.toReserve = reserved + (full - seat.toMeter);
        stakes += pool.config.wager;
        toMeter += seat.toMeter;
        toReserve += seat.toReserve;
    }
    context.ledger().takeWagers(stakes, toMeter, toReserve);
}

}  // namespace

Refused handle(Context& context, const OpenRound& command)
{
    Table* table = context.findTable(command.table);
    if (!table) return unknownTable(command.table);
    Pool& pool = context.poolOf(*table);

    if (table->suspended)
        return refuse(RefusalCode::TableSuspended, context.rule("BJ 16.18", "UTH 11.11"),
                      "table " + command.table + " plays without the jackpot until it is resumed");
    if (pool.suspended)
        return refuse(RefusalCode::PoolSuspended, "",
                      "pool " + pool.config.id + " takes no wagers until it is resumed");
    if (table->current.opened && command.round <= table->current.number)
        return refuse(RefusalCode::RoundNotNewer, "",
                      "round " + std::to_string(command.round) + " comes after round " +
                          std::to_string(table->current.number) + ": number rounds upwards");
    if (table->current.hasUnconfirmedClaims())
        return refuse(
            RefusalCode::ClaimUnconfirmed, context.rule("BJ 14.27.4", "UTH 15.2.13"),
            "round " + std::to_string(table->current.number) +
                " has a jackpot that is not confirmed: press the button or correct the result");
    if (auto refused = checkWagers(context, command, *table)) return refused;
    if (auto refused =
            checkRoom(pool, pool.config.wager * static_cast<std::int64_t>(command.wagers.size())))
        return refused;

    if (table->current.awaitsSettlement()) table->waiting.push_back(std::move(table->current));
    Round& round = table->current;
    round.startAnew(command.round);
    for (const Wager& wager : command.wagers) {
        Seat& seat = round.seat(static_cast<int>(wager.seat));
        seat.wagered = true;
        seat.playerCard = wager.playerCard;
    }
    table->wagers += command.wagers.size();
    contribute(context, pool, round);
    return kAccepted;
}

}  // namespace jackpot::rules
