// Results and their corrections.
#include "rules/results.h"

#include "rules/handlers/handlers.h"
#include "rules/handlers/round_changes.h"

namespace jackpot::rules {
namespace {

// Fixed awards are due at once (BJ 14.27.3), from the highest seat down; jackpots are claimed.
void takeResult(Context& context, Table& table, const Tiers& tiers)
{
    Pool& pool = context.poolOf(table);
    Round& round = table.current;
    PoolLedger ledger = context.ledger();
    round.resultIn = true;
    for (int number = kMaxSeats; number >= 1; --number) {
        Seat& seat = round.seat(number);
        seat.tier = tiers.at(static_cast<std::size_t>(number - 1));
        const PayTableRow* row = findRow(pool.payTable, seat.tier);
        if (!row) continue;
        if (row->pays == Pays::Fixed) {
            ledger.payByHouse(row->amount);
            round.due.push_back(
                {round.number, number, row->tier, row->amount, DueAward::Status::Due});
            context.out.awards.push_back({context.indexOf(table), round.number, number, row->tier,
                                          row->amount, row->rule,
                                          Arithmetic::plain(Arithmetic::Kind::Fixed, row->amount)});
        } else {
            seat.claims = true;
            context.out.claims.push_back(
                {context.indexOf(table), round.number, number, row->tier, ClaimState::Claimed});
        }
    }
}

}  // namespace

Refused handle(Context& context, const ReportResult& command)
{
    Table* table = context.findTable(command.table);
    if (!table) return unknownTable(command.table);
    if (auto refused = checkCurrent(context, *table, command.round)) return refused;
    if (table->current.resultIn)
        return refuse(RefusalCode::ResultAlreadyReported, context.rule("BJ 16.8", ""),
                      "a supervisor can correct the result until the jackpot is confirmed");
    Tiers tiers{};
    if (auto refused = evaluate(command, table->current, context.game(), tiers)) return refused;
    takeResult(context, *table, tiers);
    return kAccepted;
}

Refused handle(Context& context, const CorrectResult& command)
{
    Table* table = context.findTable(command.result.table);
    if (!table) return unknownTable(command.result.table);
    if (auto refused = checkCurrent(context, *table, command.result.round)) return refused;
    if (!table->current.resultIn)
        return refuse(RefusalCode::NoResult, "BJ 16.8", "there is no result to correct: report it");
    if (table->current.confirmed)
        return refuse(RefusalCode::AlreadyConfirmed, "BJ 16.8",
                      "the jackpot is confirmed: void the wager or the round, or adjust the pool");
    if (command.by.empty())
        return refuse(RefusalCode::NeedsSupervisor, "BJ 16.8", "a supervisor's name is missing");
    Tiers tiers{};
    if (auto refused = evaluate(command.result, table->current, context.game(), tiers))
        return refused;

    for (int seat = 1; seat <= kMaxSeats; ++seat) {
        withdrawDue(context, *table, table->current, seat);
        dropClaim(context, *table, table->current, seat);
    }
    takeResult(context, *table, tiers);
    return kAccepted;
}

}  // namespace jackpot::rules
