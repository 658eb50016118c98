// The dealer's button, rulings and the end of a window.
#include "rules/handlers/handlers.h"
#include "rules/settlement.h"

namespace jackpot::rules {

Refused handle(Context& context, const ConfirmJackpot& command)
{
    Table* table = context.findTable(command.table);
    if (!table) return unknownTable(command.table);
    if (auto refused = checkCurrent(context, *table, command.round)) return refused;
    Round& round = table->current;
    if (round.confirmed)
        return refuse(RefusalCode::AlreadyConfirmed, "", "the button counts once for each round");
    if (!round.hasClaims())
        return refuse(RefusalCode::NothingToConfirm, context.rule("BJ 14.24", "UTH 15.2.9"),
                      "no seat of round " + std::to_string(round.number) + " has a jackpot");
    if (command.pressedAgoMs < 0)
        return refuse(RefusalCode::OutOfRange, "BJ 14.27.4",
                      "the button cannot be pressed in the future");

    round.confirmed = true;
    Pool& pool = context.poolOf(*table);
    pool.confirmations.push_back({
        .table = context.indexOf(*table),
        .round = round.number,
        .order = context.state.confirmations++,
        .arrivedMs = context.now,
        .pressedMs = context.now - command.pressedAgoMs,
        .meter = pool.meter,
        .since = Change::none(pool.config.minimum),
    });
    if (pool.config.windowMs() == 0)
        settleTogether(context.state, *context.out.pool, {pool.confirmations.size() - 1},
                       context.out);
    else
        context.simultaneity().waitOrHold();
    return kAccepted;
}

Refused handle(Context& context, const RuleOnClaims& command)
{
    Pool* pool = context.findPool(command.pool);
    if (!pool) return unknownPool(command.pool);
    if (auto refused = context.simultaneity().checkRuling(command.order)) return refused;
    context.simultaneity().settleAsRuled(command.order);
    return kAccepted;
}

Refused handle(Context& context, const SettleDue& command)
{
    Pool* pool = context.findPool(command.pool);
    if (!pool) return unknownPool(command.pool);
    context.simultaneity().settleDue();
    return kAccepted;
}

}  // namespace jackpot::rules
