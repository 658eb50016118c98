// Void rounds and void wagers.
#include <algorithm>

#include "rules/handlers/handlers.h"
#include "rules/handlers/round_changes.h"

namespace jackpot::rules {
namespace {

// Finds the round: the table's newest, or one with an open win.
template <class VoidCommand>
Refused checkVoidable(Context& context, Table& table, const VoidCommand& command)
{
    if (!table.current.opened) return checkOpen(context, table, command.round);
    const Round* round = table.findRound(command.round);
    if (!round) return wrongRound(table, command.round);
    if (auto refused = checkNotVoid(context, *round)) return refused;
    if (round->final) return awardPaid();

    bool reachesClosed = round->hasOpenWin();
    bool twoPeople = round->closed;
    std::optional<std::int64_t> seat;
    if constexpr (std::is_same_v<VoidCommand, VoidRound>) {
        const bool invalidated = command.ground == VoidRoundGround::Invalidated;
        reachesClosed = reachesClosed && invalidated;
        twoPeople = twoPeople || invalidated;
    } else {
        seat = command.seat;
    }
    if (round->closed && !reachesClosed)
        return refuse(
            RefusalCode::RoundClosed, context.rule("BJ 16.16.1", "UTH 11.7"),
            "round " + std::to_string(round->number) + " is closed: completed rounds stand");
    if (auto refused = checkSupervisor(command.by, context.rule("BJ 16.8", "UTH 11.1")))
        return refused;
    if (twoPeople || needsTwoPeople(table, *round, seat))
        return checkTwoPeople(command.by, context.rule("BJ 18.9", "UTH 13.9"));
    return kAccepted;
}

// Interim settlement stands (BJ 16.8, 16.16.2): a seat with a fixed award keeps it. BJ 17.4 and UTH
// have no such proviso.
bool interimSettlementStands(Game game, VoidRoundGround ground)
{
    return game == Game::BlazingSevens && (ground == VoidRoundGround::DealingError ||
                                           ground == VoidRoundGround::MissingOrForeignCard);
}

}  // namespace

Refused handle(Context& context, const VoidRound& command)
{
    Table* table = context.findTable(command.table);
    if (!table) return unknownTable(command.table);
    if (auto refused = checkVoidable(context, *table, command)) return refused;
    Round& round = *table->findRound(command.round);

    if (command.ground == VoidRoundGround::MissingOrForeignCard)
        context.notify(NoticeKind::MissingOrForeignCard, context.rule("BJ 16.16.4", "UTH 11.7.4"),
                       "table " + command.table + ", round " + std::to_string(round.number) +
                           " void" + (command.reason.empty() ? "" : ": " + command.reason));
    const bool forfeits = command.ground == VoidRoundGround::Invalidated;
    const bool interimStands = interimSettlementStands(context.game(), command.ground);
    Seats returned;
    for (int seat = 1; seat <= kMaxSeats; ++seat) {
        if (!interimStands) withdrawFixed(context, *table, round, seat);
        const bool isForfeited =
            forfeits && std::ranges::find(command.forfeited, seat) != command.forfeited.end();
        returned.set(static_cast<std::size_t>(seat),
                     !isForfeited && !hasFixedAward(context, round, seat));
    }
    voidRound(context, *table, round, returned);
    return kAccepted;
}

Refused handle(Context& context, const VoidWager& command)
{
    Table* table = context.findTable(command.table);
    if (!table) return unknownTable(command.table);
    if (auto refused = checkVoidable(context, *table, command)) return refused;
    Round& round = *table->findRound(command.round);
    if (!round.hasWager(command.seat))
        return refuse(RefusalCode::SeatHasNoWager, "",
                      seatText(command.seat) + " has no wager in this round");
    if (command.ground == VoidWagerGround::Refused && round.resultIn)
        return refuse(RefusalCode::ResultAlreadyReported, context.rule("BJ 18.16", "UTH 13.16"),
                      "a wager is refused only before the result");

    const int seat = static_cast<int>(command.seat);
    withdrawFixed(context, *table, round, seat);
    Seats returned;
    returned.set(static_cast<std::size_t>(seat));
    returnWagers(context, *table, round, returned);
    return kAccepted;
}

}  // namespace jackpot::rules
