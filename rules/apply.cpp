#include "rules/apply.h"

#include "rules/amendment.h"
#include "rules/handlers/handlers.h"
#include "rules/invariants.h"

namespace jackpot::rules {
namespace {

// The pool that a command is about, for what must be known before it is carried out.
std::optional<std::uint32_t> poolOf(const State& state, const Command& command)
{
    if (const std::string* const id = tableOf(command)) {
        const auto table = state.findTable(*id);
        return table ? std::optional{state.tables[*table].pool} : std::nullopt;
    }
    return std::visit(
        [&](const auto& each) -> std::optional<std::uint32_t> {
            if constexpr (requires { each.pool; })
                return state.findPool(each.pool);
            else
                return std::nullopt;
        },
        command);
}

// For displays and signs, which show it long after it was settled.
void rememberWin(State& state, const Outcome& outcome, TimeMs now)
{
    for (const Award& award : outcome.awards)
        if (award.arithmetic.kind == Arithmetic::Kind::Tenth ||
            award.arithmetic.kind == Arithmetic::Kind::All)
            state.pools[*outcome.pool].lastWin = {award.amount, now, award.tier, award.table};
}

void requireNothingDue(const Pool& pool, TimeMs now)
{
    for (const Confirmation& each : pool.confirmations)
        if (each.hold == Hold::None && each.arrivedMs + pool.config.windowMs() <= now)
            throw InvariantViolation{"a command was given to pool " + pool.config.id +
                                     " before what was due in it was settled"};
}

}  // namespace

Outcome apply(State& state, const Command& command, TimeMs now)
{
    const auto moneyOf = [](const Pool& pool) { return PoolBefore{pool.meter, pool.reserve}; };
    const auto pool = poolOf(state, command);
    PoolBefore before;
    std::vector<PoolBefore> allBefore;
    if (pool) {
        if (!std::holds_alternative<SettleDue>(command)) requireNothingDue(state.pools[*pool], now);
        before = moneyOf(state.pools[*pool]);
    } else if (std::holds_alternative<ConfigureSite>(command)) {
        for (const Pool& each : state.pools) allBefore.push_back(moneyOf(each));
    }

    Outcome outcome;
    Context context{state, now, outcome};
    outcome.refusal =
        std::visit([&context](const auto& each) { return handle(context, each); }, command);
    if (outcome.pool && !outcome.refusal) takeAgreedParameters(state, *outcome.pool, outcome);
    rememberWin(state, outcome, now);
    checkTouched(state, outcome, outcome.pool ? std::span{&before, 1} : std::span{allBefore});
    return outcome;
}

}  // namespace jackpot::rules
