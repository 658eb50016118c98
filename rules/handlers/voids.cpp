// Void rounds and void wagers.
#include <algorithm>

#include "rules/handlers/handlers.h"
#include "rules/handlers/round_changes.h"
#include "rules/settlement.h"

namespace jackpot::rules {
namespace {

// BJ 16.16.4, UTH 11.7.4.
bool concernsMissingOrForeignCard(std::string_view reason)
{
    std::string lower{reason};
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower.find("missing card") != std::string::npos ||
           lower.find("foreign card") != std::string::npos;
}

Refused checkVoidable(Context& context, Table& table, std::int64_t number)
{
    if (!table.current.opened) return checkCurrent(context, table, number);
    const Round* round = table.findRound(number);
    return round ? checkNotVoid(context, *round) : wrongRound(table, number);
}

// A confirmed round whose last claim was dropped waits for nothing any more; if that leaves
// only one table in a tie, there is nothing left to rule on.
void stopWaitingIfDone(Context& context, Table& table, Round& round)
{
    if (!round.confirmed || round.settled || round.hasClaims()) return;
    Pool& pool = context.poolOf(table);
    const auto found = std::ranges::find_if(pool.confirmations, [&](const Confirmation& each) {
        return each.table == context.indexOf(table) && each.round == round.number;
    });
    if (found == pool.confirmations.end()) return;
    forget(pool, static_cast<std::size_t>(found - pool.confirmations.begin()));
    table.dropIfDone(&round);
    context.simultaneity().releaseTie();
}

}  // namespace

Refused handle(Context& context, const VoidRound& command)
{
    Table* table = context.findTable(command.table);
    if (!table) return unknownTable(command.table);
    if (auto refused = checkVoidable(context, *table, command.round)) return refused;
    Round& round = *table->findRound(command.round);
    const bool holdem = context.game() == Game::UltimateTexasHoldem;
    if (holdem && round.settled)
        return refuse(RefusalCode::RoundSettled, "UTH 15.3.1",
                      "a jackpot of the round is settled: what needs undoing is an adjustment "
                      "by two people");

    if (concernsMissingOrForeignCard(command.reason))
        context.notify(Notify::SurveillanceAndInspector, context.rule("BJ 16.16.4", "UTH 11.7.4"),
                       "table " + command.table + ", round " + std::to_string(round.number) +
                           " void: " + command.reason);
    returnWagers(context, *table, round);
    round.voided = true;
    stopWaitingIfDone(context, *table, round);
    return kAccepted;
}

Refused handle(Context& context, const VoidWager& command)
{
    Table* table = context.findTable(command.table);
    if (!table) return unknownTable(command.table);
    if (auto refused = checkVoidable(context, *table, command.round)) return refused;
    Round& round = *table->findRound(command.round);
    if (!round.hasWager(command.seat))
        return refuse(RefusalCode::SeatHasNoWager, "",
                      seatText(command.seat) + " has no wager in this round");
    if (round.settled)
        return refuse(RefusalCode::RoundSettled, context.rule("BJ 16.22.3", "UTH 11.16.3"),
                      "a jackpot of the round is settled: what needs undoing is an adjustment "
                      "by two people");

    const int seat = static_cast<int>(command.seat);
    withdrawDue(context, *table, round, seat);
    returnSeats(context, *table, round, [seat](int each) { return each == seat; });
    stopWaitingIfDone(context, *table, round);
    return kAccepted;
}

}  // namespace jackpot::rules
