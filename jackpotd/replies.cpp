#include "jackpotd/replies.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "rules/explain.h"
#include "storage/outcome_json.h"

namespace jackpot {
namespace {

using namespace linkproto;

std::int64_t displayedCents(const rules::State& state, std::uint32_t table)
{
    return state.pools[state.tables[table].pool].displayed().cents();
}

PoolNews newsOf(const rules::Pool& pool)
{
    return {pool.config.id,  pool.displayed().cents(),
            !pool.suspended, pool.isPending(),
            pool.isHeld(),   false};
}

TableState stateOf(const rules::State& state, std::uint32_t index)
{
    const rules::Table& table = state.tables[index];
    const rules::Pool& pool = state.pools[table.pool];
    return {table, pool.config.game, pool.config.wager, newsOf(pool)};
}

linkproto::Receipt receiptOf(std::uint64_t size, const storage::Hash& root, const std::string& note)
{
    return {size, std::string{root.view()}, note};
}

// The next functions take an outcome of the rules, whose tables are indices, or one that was read
// from a record, whose tables are ids.

std::string inWords(const rules::Award& award) { return arithmeticInWords(award); }
std::string inWords(const storage::RecordedAward& award) { return award.inWords(); }
std::string detailOf(const rules::Refusal& refusal) { return refusal.detail; }
std::string detailOf(const storage::RecordedRefusal&) { return {}; }

template <class From>
void append(std::vector<Award>& to, const From& award)
{
    to.push_back({award.round, award.seat, award.tier, award.amount, std::string{award.rule},
                  inWords(award)});
}

template <class From>
void append(std::vector<Refund>& to, const From& refund)
{
    to.push_back({refund.round, refund.seat, refund.amount});
}

template <class From>
void append(std::vector<Claim>& to, const From& claim)
{
    to.push_back({claim.round, claim.seat, claim.tier, claim.state});
}

// The table's part of a list.
template <class To, class From, class Table>
void appendOwn(std::vector<To>& to, const std::vector<From>& from, const Table& table)
{
    for (const From& each : from)
        if (each.table == table) append(to, each);
}

template <class Outcome, class Table>
std::unique_ptr<Details> detailsOf(const Outcome& outcome, const Table& table)
{
    if (!outcome.refusal && outcome.awards.empty() && outcome.withdrawn.empty() &&
        outcome.refunds.empty() && outcome.claims.empty())
        return nullptr;
    auto details = std::make_unique<Details>();
    if (outcome.refusal)
        details->refusal = {outcome.refusal->code, std::string{outcome.refusal->rule},
                            detailOf(*outcome.refusal)};
    appendOwn(details->awards, outcome.awards, table);
    appendOwn(details->withdrawn, outcome.withdrawn, table);
    appendOwn(details->refunds, outcome.refunds, table);
    appendOwn(details->claims, outcome.claims, table);
    return details;
}

}  // namespace

void Replies::addWelcome(const Recipient& to, const storage::Verifier& verifier,
                         const rules::State& state, bool isRestored)
{
    add(to, std::make_unique<Welcome>(
                Welcome{verifier.name(), verifier.format(), isRestored, stateOf(state, to.table)}));
}

void Replies::addState(const Recipient& to, const rules::State& state)
{
    add(to, std::make_unique<TableState>(stateOf(state, to.table)));
}

void Replies::addDecision(const Recipient& to, std::uint64_t number, std::uint64_t record,
                          const rules::Outcome& outcome, const rules::State& state)
{
    add(to,
        Decision{number, record, displayedCents(state, to.table), detailsOf(outcome, to.table)});
}

Result<void> Replies::addRepeatedDecision(const Recipient& to, std::uint64_t number,
                                          const std::string& table, const std::string& payload,
                                          const std::string& checkpoint)
{
    const auto record = storage::readRecord(payload);
    if (!record) return record.error();
    const auto outcome = storage::readOutcome(std::string_view{payload}.substr(record->commandEnd));
    if (!outcome) return outcome.error();
    const auto covering = storage::readCheckpoint(checkpoint);
    if (!covering) return covering.error();
    const std::int64_t displayed =
        outcome->pools.empty() ? 0 : outcome->pools.front().meter.roundedDownToCent().cents();
    add(to, std::make_unique<RepeatedDecision>(
                RepeatedDecision{{number, record->head.seq, displayed, detailsOf(*outcome, table)},
                                 receiptOf(covering->size, covering->root, checkpoint)}));
    return {};
}

void Replies::addSettlements(const rules::Outcome& outcome, std::optional<std::uint32_t> ownTable,
                             std::uint64_t record, const rules::State& state)
{
    std::vector<std::uint32_t> others;
    const auto include = [&](std::uint32_t table) {
        if (table != ownTable && std::ranges::find(others, table) == others.end())
            others.push_back(table);
    };
    for (const rules::Award& award : outcome.awards) include(award.table);
    for (const rules::ClaimChange& claim : outcome.claims) include(claim.table);
    for (const std::uint32_t table : others) {
        Settlement settlement{record, displayedCents(state, table), {}, {}};
        appendOwn(settlement.awards, outcome.awards, table);
        appendOwn(settlement.claims, outcome.claims, table);
        add({0, table}, std::move(settlement));
    }
}

void Replies::addPoolNews(std::uint32_t pool, const rules::State& state)
{
    const PoolNews news = newsOf(state.pools[pool]);
    for (std::uint32_t table = 0; table < state.tables.size(); ++table)
        if (state.tables[table].pool == pool) add({0, table}, news);
}

void Replies::addGoodbyeToAll(const rules::State& state, GoodbyeReason reason,
                              const std::string& detail)
{
    for (std::uint32_t table = 0; table < state.tables.size(); ++table)
        add({0, table}, Goodbye{reason, detail});
}

void Replies::addUnavailableToAll(const rules::State& state, const std::string& detail)
{
    for (std::uint32_t table = 0; table < state.tables.size(); ++table) {
        PoolNews news;
        news.pool = state.pools[state.tables[table].pool].config.id;
        news.isUnavailable = true;
        add({0, table}, std::move(news));
        add({0, table}, Goodbye{GoodbyeReason::Unavailable, detail});
    }
}

Delivery Replies::release(const storage::Receipt& receipt)
{
    delivery_.receipt = receiptOf(receipt.size, receipt.root, receipt.note);
    return release();
}

Delivery Replies::release() { return std::exchange(delivery_, {}); }

}  // namespace jackpot
