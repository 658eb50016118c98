#include "rules/invariants.h"

#include <algorithm>
#include <array>

namespace jackpot::rules {
namespace {

const Pool& poolIn(const Scope& scope) { return scope.state.pools[scope.pool]; }

class Conservation final : public Invariant {
public:
    Conservation() : Invariant{1, "conservation"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        const Pool& pool = poolIn(scope);
        const Totals& t = pool.totals;
        const Money there = pool.meter + pool.reserve;
        const Money accounted = t.seeded + t.contributed - t.returned - t.paidFromPool + t.adjusted;
        if (there == accounted) return {};
        return "meter and reserve are " + toExact(there) + ", the totals account for " +
               toExact(accounted);
    }
};

class MinimumAtRest final : public Invariant {
public:
    MinimumAtRest() : Invariant{2, "minimum at rest"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        const Pool& pool = poolIn(scope);
        if (pool.displayed() < pool.config.minimum)
            return "the displayed amount " + toCents(pool.displayed()) + " is below the minimum " +
                   toCents(pool.config.minimum);
        if (pool.reserve.isNegative()) return "the reserve is " + toExact(pool.reserve);
        return {};
    }
};

class PostingsBalance final : public Invariant {
public:
    PostingsBalance() : Invariant{3, "postings balance"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        if (!scope.outcome) return {};
        std::array<Money, kCauses> sums{};
        Money meter = scope.before.meter;
        Money reserve = scope.before.reserve;
        for (const Posting& posting : scope.outcome->postings) {
            if (posting.pool != scope.pool) continue;
            sums.at(static_cast<std::size_t>(posting.cause)) += posting.amount;
            if (posting.account == Account::Meter) meter += posting.amount;
            if (posting.account == Account::Reserve) reserve += posting.amount;
        }
        for (std::size_t i = 0; i < sums.size(); ++i)
            if (sums.at(i) != Money{})
                return "the postings of " + std::string{idOf(static_cast<Cause>(i))} + " sum to " +
                       toExact(sums.at(i));
        const Pool& pool = poolIn(scope);
        if (meter != pool.meter || reserve != pool.reserve)
            return "the postings lead to meter " + toExact(meter) + " and reserve " +
                   toExact(reserve) + ", the pool has " + toExact(pool.meter) + " and " +
                   toExact(pool.reserve);
        return {};
    }

private:
    static constexpr std::size_t kCauses = static_cast<std::size_t>(Cause::Adjustment) + 1;
};

class PaidOnce final : public Invariant {
public:
    PaidOnce() : Invariant{4, "no seat is paid twice for a tier"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        if (!scope.outcome) {
            for (const Table& table : scope.state.tables)
                if (table.pool == scope.pool)
                    if (auto breach = checkTable(table); !breach.empty()) return breach;
            return {};
        }
        for (const Award& award : scope.outcome->awards)
            if (auto breach = checkTable(scope.state.tables[award.table]); !breach.empty())
                return breach;
        return {};
    }

private:
    static std::string checkTable(const Table& table)
    {
        const auto twice = [&table](const std::vector<DueAward>& due) -> std::string {
            for (auto a = due.begin(); a != due.end(); ++a)
                for (auto b = a + 1; b != due.end(); ++b)
                    if (a->round == b->round && a->seat == b->seat && a->tier == b->tier)
                        return "table " + table.config.id + ", round " + std::to_string(a->round) +
                               ", seat " + std::to_string(a->seat) + " has " +
                               std::string{idOf(a->tier)} + " twice";
            return {};
        };
        std::string breach = twice(table.jackpotsDue);
        if (breach.empty()) breach = twice(table.current.due);
        for (const Round& round : table.waiting)
            if (breach.empty()) breach = twice(round.due);
        return breach;
    }
};

class SettledOnce final : public Invariant {
public:
    SettledOnce() : Invariant{5, "no claim is settled twice"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        const auto& all = poolIn(scope).confirmations;
        for (auto each = all.begin(); each != all.end(); ++each) {
            const Table& table = scope.state.tables[each->table];
            const Round* round = table.findRound(each->round);
            const std::string where = "the confirmation of table " + table.config.id + ", round " +
                                      std::to_string(each->round);
            if (!round || round->settled || round->voided || !round->awaitsSettlement())
                return where + " has no claim that waits";
            if (std::any_of(all.begin(), each, [&](const Confirmation& other) {
                    return other.table == each->table && other.round == each->round;
                }))
                return where + " is there twice";
        }
        return {};
    }
};

class MomentsLeadToNow final : public Invariant {
public:
    MomentsLeadToNow() : Invariant{6, "moments lead to the meter as it stands"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        const Pool& pool = poolIn(scope);
        if (pool.confirmations.empty()) return {};
        Money meter = pool.confirmations.front().meter;
        for (const Confirmation& each : pool.confirmations) {
            if (each.meter != meter)
                return "the moment of round " + std::to_string(each.round) + " has the meter at " +
                       toExact(each.meter) + ", the moments before it lead to " + toExact(meter);
            meter = each.since.appliedTo(meter);
        }
        if (meter == pool.meter) return {};
        return "the moments lead to " + toExact(meter) + ", the meter is " + toExact(pool.meter);
    }
};

class ParametersInForce final : public Invariant {
public:
    ParametersInForce() : Invariant{7, "the parameters are those in force"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        const Pool& pool = poolIn(scope);
        if (pool.nextIsDue && (!pool.next || pool.confirmations.empty()))
            return "a change of its parameters was due and has not taken effect";
        // No other command can have changed them.
        const Outcome* outcome = scope.outcome;
        if (outcome && outcome->pool && !outcome->parameters) return {};
        if (pool.payTable != payTableOf(pool.config.game, pool.config.wager, pool.config.minimum))
            return "its pay table is not that of its wager and minimum";
        if (!validate({{pool.config}, {}}).empty()) return "its parameters break a rule";
        if (!pool.next) return {};
        if (*pool.next == parametersOf(pool.config))
            return "the parameters agreed are those it has";
        if (!validate({{withParameters(pool.config, *pool.next)}, {}}).empty())
            return "the parameters agreed break a rule";
        return {};
    }
};

class KnownByIdAndIndex final : public Invariant {
public:
    KnownByIdAndIndex() : Invariant{8, "pools and tables stay where they are"} {}
    [[nodiscard]] std::string check(const Scope& scope) const override
    {
        const State& state = scope.state;
        if (state.findPool(poolIn(scope).config.id) != scope.pool)
            return "the pool is not found by its id";
        // Only a configuration touches tables that it does not name.
        if (scope.outcome && scope.outcome->pool) return {};
        for (std::uint32_t i = 0; i < state.tables.size(); ++i) {
            const Table& table = state.tables[i];
            if (table.pool != scope.pool) continue;
            if (state.findTable(table.config.id) != i ||
                state.findPool(table.config.pool) != scope.pool)
                return "table " + table.config.id + " is not found by its id and its pool's";
        }
        return {};
    }
};

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
           std::string{invariant.name()} + ") is broken in pool " + poolIn(scope).config.id + ": " +
           what;
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
