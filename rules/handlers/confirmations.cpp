// The dealer's button, rulings and looks at the wins that wait.
#include "rules/handlers/handlers.h"
#include "rules/holds.h"
#include "rules/win_update.h"

namespace jackpot::rules {

Refused handle(Context& context, const ConfirmJackpot& command)
{
    Table* table = context.findTable(command.table);
    if (!table) return unknownTable(command.table);
    if (auto refused = checkOpen(context, *table, command.round)) return refused;
    const Round& round = table->current;
    if (round.confirmed)
        return refuse(RefusalCode::AlreadyConfirmed, "", "the button counts once for each round");
    if (!round.hasClaims())
        return refuse(RefusalCode::NothingToConfirm, context.rule("BJ 14.24", "UTH 15.2.9"),
                      "no seat of round " + std::to_string(round.number) + " has a jackpot");
    if (command.pressedAgoMs < 0)
        return refuse(RefusalCode::OutOfRange, "BJ 14.27.4",
                      "the button cannot be pressed in the future");

    WinUpdate update{context};
    update.confirm(*table, command.pressedAgoMs);
    update.finish();
    return kAccepted;
}

Refused handle(Context& context, const RuleOnClaims& command)
{
    const Pool* pool = context.findPool(command.pool);
    if (!pool) return unknownPool(command.pool);
    if (auto refused = checkRuling(context.state, *pool, command.order)) return refused;
    WinUpdate update{context};
    update.rule(command.order);
    update.finish();
    return kAccepted;
}

Refused handle(Context& context, const SettleDue& command)
{
    Pool* pool = context.findPool(command.pool);
    if (!pool) return unknownPool(command.pool);

    std::vector<PlaceKey> final;
    std::vector<std::uint64_t> ended;
    for (const Win& win : pool->wins)
        if (pool->lookMs(win) <= context.now)
            win.due ? final.push_back(win.place) : ended.push_back(win.order);
    for (const PlaceKey& place : final) makeFinal(context, place);
    for (const std::uint64_t order : ended) {
        const auto win = std::ranges::find(pool->wins, order, &Win::order);
        if (win == pool->wins.end()) continue;
        WinUpdate update{context};
        update.endWait(*win);
        update.finish();
    }
    planNextLook(*pool);
    return kAccepted;
}

}  // namespace jackpot::rules
