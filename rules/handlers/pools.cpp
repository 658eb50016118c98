// The site, adjustments and parameters of pools.
#include <algorithm>

#include "rules/amendment.h"
#include "rules/handlers/handlers.h"

namespace jackpot::rules {
namespace {

Refused checkValid(const Site& site)
{
    const auto errors = validate(site);
    if (errors.empty()) return kAccepted;
    return refuse(RefusalCode::BadConfiguration, errors[0].rule, errors[0].message);
}

}  // namespace

Refused handle(Context& context, const ConfigureSite& command)
{
    Site site = command.site;
    // A pool in play opened long ago, perhaps under other parameters.
    for (PoolConfig& pool : site.pools)
        if (context.state.findPool(pool.id)) pool.opening.reset();
    if (auto refused = checkValid(site)) return refused;
    if (auto refused = checkAmendment(context.state, site)) return refused;
    amend(context.state, site, context.out);
    return kAccepted;
}

Refused handle(Context& context, const AdjustPool& command)
{
    Pool* pool = context.findPool(command.pool);
    if (!pool) return unknownPool(command.pool);
    if (auto refused = checkTwoPeople(command.by, command.reason)) return refused;
    if (command.amount > kMaxAmount || command.amount < -kMaxAmount)
        return refuse(RefusalCode::OutOfRange, "",
                      "an adjustment is at most " + toRead(kMaxAmount));
    if (auto refused = checkRoom(*pool, std::max(command.amount, -command.amount))) return refused;
    context.ledger().adjust(command.amount);
    return kAccepted;
}

Refused handle(Context& context, const ChangePool& command)
{
    Pool* pool = context.findPool(command.pool);
    if (!pool) return unknownPool(command.pool);
    if (auto refused = checkTwoPeople(command.by, command.reason)) return refused;
    const PoolConfig changed = withParameters(pool->config, command.to);
    if (auto refused = checkValid({{changed}, {}})) return refused;

    const PoolParameters present = parametersOf(pool->config);
    const PoolParameters next = parametersOf(changed);
    if (next != present) {
        if (auto refused = checkRoom(*pool, next.minimum)) return refused;
        context.out.parameters = {ParametersState::Agreed, present, next};
        pool->next = next;
    } else if (pool->next) {
        context.out.parameters = {ParametersState::TakenBack, present, *pool->next};
        pool->next.reset();
    }
    pool->nextIsDue = false;
    return kAccepted;
}

}  // namespace jackpot::rules
