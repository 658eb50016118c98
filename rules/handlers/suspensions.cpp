// Tables and pools that are suspended, and links that are lost.
#include "rules/handlers/handlers.h"
#include "rules/handlers/round_changes.h"

namespace jackpot::rules {

namespace {

// BJ 16.18.1: before the result all wagers are returned; after it Blackjack returns those that won
// nothing, UTH none. Claims stand.
void returnAfterMalfunction(Context& context, Table& table)
{
    Round& round = table.current;
    if (!round.isOpen()) return;
    if (!round.resultIn) {
        voidRound(context, table, round, Seats{}.set());
    } else if (context.game() == Game::BlazingSevens) {
        Seats losing;
        for (int seat = 1; seat <= kMaxSeats; ++seat)
            losing.set(static_cast<std::size_t>(seat),
                       !round.seat(seat).claims && !hasFixedAward(context, round, seat));
        returnWagers(context, table, round, losing);
    }
}

}  // namespace

Refused handle(Context& context, const SuspendTable& command)
{
    Table* table = context.findTable(command.table);
    if (!table) return unknownTable(command.table);
    if (table->suspended)
        return refuse(RefusalCode::TableSuspended, "",
                      "table " + command.table + " is suspended already");
    if (auto refused = checkSupervisor(command.by, context.rule("BJ 16.18.2", "UTH 11.11")))
        return refused;
    const bool malfunction = command.ground == SuspensionGround::Malfunction;
    if (!malfunction && table->current.isOpen())
        return refuse(
            RefusalCode::RoundOpen, context.rule("BJ 18.13", ""),
            "round " + std::to_string(table->current.number) + " is open: close or void it first");

    table->suspended = command.from;
    if (!malfunction) return kAccepted;
    context.notify(NoticeKind::Malfunction, context.rule("BJ 16.18", "UTH 11.11"),
                   "table " + command.table + " suspended" +
                       (command.reason.empty() ? "" : ": " + command.reason));
    returnAfterMalfunction(context, *table);
    return kAccepted;
}

Refused handle(Context& context, const ResumeTable& command)
{
    Table* table = context.findTable(command.table);
    if (!table) return unknownTable(command.table);
    if (!table->suspended)
        return refuse(RefusalCode::NotSuspended, "",
                      "table " + command.table + " is not suspended");
    if (auto refused = checkSupervisor(command.by, context.rule("BJ 16.18.2", "UTH 11.11")))
        return refused;
    if (command.from == Origin::Table && table->suspended == Origin::Desk)
        return refuse(RefusalCode::SuspendedByDesk, "",
                      "the desk suspended table " + command.table + ": resume it there");
    table->suspended.reset();
    return kAccepted;
}

Refused handle(Context& context, const MarkTableOffline& command)
{
    Table* table = context.findTable(command.table);
    if (!table) return unknownTable(command.table);
    return flip(table->offline, true, RefusalCode::TableOffline,
                "table " + command.table + " is offline already");
}

Refused handle(Context& context, const MarkTableOnline& command)
{
    Table* table = context.findTable(command.table);
    if (!table) return unknownTable(command.table);
    return flip(table->offline, false, RefusalCode::NotOffline,
                "table " + command.table + " is not offline");
}

Refused handle(Context& context, const SuspendPool& command)
{
    Pool* pool = context.findPool(command.pool);
    if (!pool) return unknownPool(command.pool);
    return flip(pool->suspended, true, RefusalCode::PoolSuspended,
                "pool " + command.pool + " is suspended already");
}

Refused handle(Context& context, const ResumePool& command)
{
    Pool* pool = context.findPool(command.pool);
    if (!pool) return unknownPool(command.pool);
    return flip(pool->suspended, false, RefusalCode::NotSuspended,
                "pool " + command.pool + " is not suspended");
}

}  // namespace jackpot::rules
