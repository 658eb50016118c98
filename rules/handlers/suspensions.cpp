// Tables and pools that are suspended, and links that are lost.
#include "rules/handlers/handlers.h"
#include "rules/handlers/round_changes.h"

namespace jackpot::rules {

Refused handle(Context& context, const SuspendTable& command)
{
    Table* table = context.findTable(command.table);
    if (!table) return unknownTable(command.table);
    if (table->suspended)
        return refuse(RefusalCode::TableSuspended, "",
                      "table " + command.table + " is suspended already");

    table->suspended = true;
    Round& round = table->current;
    if (round.opened && !round.resultIn && !round.voided) {
        returnWagers(context, *table, round);
        round.voided = true;
    }
    context.notify(Notify::Inspector, context.rule("BJ 16.18", "UTH 11.11"),
                   "table " + command.table + " suspended: " + command.reason);
    return kAccepted;
}

Refused handle(Context& context, const ResumeTable& command)
{
    Table* table = context.findTable(command.table);
    if (!table) return unknownTable(command.table);
    return flip(table->suspended, false, RefusalCode::NotSuspended,
                "table " + command.table + " is not suspended");
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
