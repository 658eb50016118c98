#include "rules/invariants.h"

#include <array>

#include "rules/invariants/conservation.h"
#include "rules/invariants/known_by_id_and_index.h"
#include "rules/invariants/minimum_at_rest.h"
#include "rules/invariants/moments_lead_to_now.h"
#include "rules/invariants/paid_once.h"
#include "rules/invariants/parameters_in_force.h"
#include "rules/invariants/postings_balance.h"
#include "rules/invariants/settled_once.h"

namespace jackpot::rules {
namespace {

const Conservation kConservation;
const MinimumAtRest kMinimumAtRest;
const PostingsBalance kPostingsBalance;
const PaidOnce kPaidOnce;
const SettledOnce kSettledOnce;
const MomentsLeadToNow kMomentsLeadToNow;
const ParametersInForce kParametersInForce;
const KnownByIdAndIndex kKnownByIdAndIndex;
const std::array<const Invariant*, 8> kAll{
    &kConservation, &kMinimumAtRest,    &kPostingsBalance,   &kPaidOnce,
    &kSettledOnce,  &kMomentsLeadToNow, &kParametersInForce, &kKnownByIdAndIndex};

std::string breachOf(const Invariant& invariant, const Scope& scope)
{
    const std::string what = invariant.check(scope);
    if (what.empty()) return {};
    return "invariant " + std::to_string(invariant.number()) + " (" +
           std::string{invariant.name()} + ") is broken in pool " + scope.poolChecked().config.id +
           ": " + what;
}

void require(const Scope& scope)
{
    for (const Invariant* invariant : kAll)
        if (auto breach = breachOf(*invariant, scope); !breach.empty())
            throw InvariantViolation{breach};
}

}  // namespace

std::span<const Invariant* const> allInvariants() { return kAll; }

void checkTouched(const State& state, const Outcome& outcome, std::span<const PoolBefore> before)
{
    if (outcome.pool)
        require({state, *outcome.pool, &outcome, before.front()});
    else if (!outcome.refusal)
        for (std::uint32_t i = 0; i < state.pools.size(); ++i)
            require({state, i, &outcome, i < before.size() ? before[i] : PoolBefore{}});
}

std::vector<std::string> checkWhole(const State& state)
{
    std::vector<std::string> breaches;
    for (std::uint32_t i = 0; i < state.pools.size(); ++i)
        for (const Invariant* invariant : kAll)
            if (auto breach = breachOf(*invariant, {state, i, nullptr, {}}); !breach.empty())
                breaches.push_back(std::move(breach));
    return breaches;
}

}  // namespace jackpot::rules
