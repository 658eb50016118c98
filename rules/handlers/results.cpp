// Results and their corrections.
#include "rules/results.h"

#include "rules/awards.h"
#include "rules/handlers/handlers.h"
#include "rules/handlers/round_changes.h"
#include "rules/win_update.h"

namespace jackpot::rules {
namespace {

// Fixed awards are due at once (BJ 14.27.3), from the highest seat down; jackpots are claimed. What
// a correction leaves as it was is not touched.
void takeResult(Context& context, Table& table, const Tiers& tiers)
{
    Round& round = table.current;
    const bool corrected = round.resultIn;
    if (corrected)
        for (int number = 1; number <= kMaxSeats; ++number) {
            if (round.seat(number).tier == tiers.at(static_cast<std::size_t>(number - 1))) continue;
            withdrawFixed(context, table, round, number);
            dropClaim(context, table, round, number);
        }
    round.resultIn = true;
    for (int number = kMaxSeats; number >= 1; --number) {
        Seat& seat = round.seat(number);
        const Tier tier = tiers.at(static_cast<std::size_t>(number - 1));
        if (corrected && seat.tier == tier) continue;
        seat.tier = tier;
        const PayTableRow* row = findRow(context.pool().payTable, tier);
        if (!row) continue;
        if (row->pays == Pays::Fixed) {
            context.ledger().payByHouse(row->amount);
            const WinAward award{number, tier, row->amount};
            if (corrected)
                recordAward(table, round.number, award, true);
            else
                recordNewAward(table, round.number, award, true);
            context.out.awards.push_back(
                {context.indexOf(table), round.number, number, tier, row->amount, row->rule,
                 Arithmetic::plain(Arithmetic::Kind::Fixed, row->amount), seat.playerCard});
        } else {
            seat.claims = true;
            if (!round.confirmed)
                context.out.claims.push_back(
                    {context.indexOf(table), round.number, number, tier, ClaimState::Claimed});
        }
    }
}

}  // namespace

Refused handle(Context& context, const ReportResult& command)
{
    Table* table = context.findTable(command.table);
    if (!table) return unknownTable(command.table);
    if (auto refused = checkOpen(context, *table, command.round)) return refused;
    if (table->current.resultIn)
        return refuse(RefusalCode::ResultAlreadyReported, context.rule("BJ 16.8", "UTH 11.1"),
                      "a supervisor can correct the result until the round is closed");
    Tiers tiers{};
    if (auto refused = evaluate(command, table->current, context.game(), tiers)) return refused;
    takeResult(context, *table, tiers);
    return kAccepted;
}

Refused handle(Context& context, const CorrectResult& command)
{
    Table* table = context.findTable(command.result.table);
    if (!table) return unknownTable(command.result.table);
    if (auto refused = checkOpen(context, *table, command.result.round)) return refused;
    Round& round = table->current;
    if (!round.resultIn)
        return refuse(RefusalCode::NoResult, "BJ 16.8", "there is no result to correct: report it");
    if (round.final) return awardPaid();
    if (auto refused = checkSupervisor(command.by, "BJ 16.8")) return refused;
    if (needsTwoPeople(*table, round))
        if (auto refused = checkTwoPeople(command.by, "BJ 16.8")) return refused;
    Tiers tiers{};
    if (auto refused = evaluate(command.result, round, context.game(), tiers)) return refused;

    const bool isWin = round.hasOpenWin();
    takeResult(context, *table, tiers);
    if (isWin) {
        WinUpdate update{context};
        update.roundChanged(*table, round);
        update.finish();
    }
    return kAccepted;
}

}  // namespace jackpot::rules
