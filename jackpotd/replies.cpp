#include "jackpotd/replies.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "rules/awards.h"
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
    return {.pool = pool.config.id,
            .displayedCents = pool.displayed().cents(),
            .isOpen = !pool.suspended,
            .isLocked = pool.isPending(),
            .isHeld = pool.isHeld(),
            .isUnavailable = false};
}

TableState stateOf(const rules::State& state, std::uint32_t index)
{
    const rules::Table& table = state.tables[index];
    const rules::Pool& pool = state.pools[table.pool];
    TableState shown{table, {}, pool.config.game, pool.config.wager, newsOf(pool)};
    for (const rules::Win& win : pool.wins)
        if (win.table == index) shown.wins.push_back(win);
    return shown;
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

// One that became due or is locked.
template <class From>
void append(std::vector<Award>& to, const From& award)
{
    to.push_back({award.round, award.seat, award.tier, award.amount, std::string{award.rule},
                  inWords(award), award.playerCard});
}

void append(std::vector<Award>& to, const rules::Withdrawal& award)
{
    to.push_back({award.round, award.seat, award.tier, award.amount, {}, {}, {}});
}

void append(std::vector<Award>& to, const storage::RecordedWithdrawal& award)
{
    to.push_back({award.round, award.seat, award.tier, award.amount, {}, {}, {}});
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
void appendLists(Details& details, const Outcome& outcome, const Table& table)
{
    appendOwn(details.withdrawn, outcome.withdrawn, table);
    appendOwn(details.awards, outcome.awards, table);
    appendOwn(details.locked, outcome.locked, table);
    appendOwn(details.refunds, outcome.refunds, table);
    appendOwn(details.claims, outcome.claims, table);
}

template <class Outcome, class Table>
std::unique_ptr<Details> detailsOf(const Outcome& outcome, const Table& table)
{
    if (!outcome.refusal && outcome.awards.empty() && outcome.withdrawn.empty() &&
        outcome.locked.empty() && outcome.refunds.empty() && outcome.claims.empty())
        return nullptr;
    auto details = std::make_unique<Details>();
    if (outcome.refusal)
        details->refusal = {outcome.refusal->code, std::string{outcome.refusal->rule},
                            detailOf(*outcome.refusal)};
    appendLists(*details, outcome, table);
    return details;
}

// Withholding and releasing change one award, which the outcome does not repeat.
void addWithholding(Details& details, const rules::Command& command, const rules::Table& table)
{
    const auto add = [&](std::vector<Award>& to, const rules::AwardRef& ref) {
        const rules::AwardRecord* const award =
            rules::findAward(table, ref.round, ref.seat, ref.tier);
        if (award && ref.table == table.config.id)
            to.push_back({ref.round, ref.seat, ref.tier, award->amount, {}, {}, {}});
    };
    if (const auto* withheld = std::get_if<rules::WithholdAward>(&command))
        add(details.withheld, withheld->award);
    if (const auto* released = std::get_if<rules::ReleaseAward>(&command))
        add(details.released, released->award);
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

void Replies::addSettlements(const rules::Command& command, const rules::Outcome& outcome,
                             std::optional<std::uint32_t> ownTable, std::uint64_t record,
                             const rules::State& state)
{
    if (outcome.refusal) return;
    std::vector<std::uint32_t> others;
    const auto include = [&](std::uint32_t table) {
        if (table != ownTable && std::ranges::find(others, table) == others.end())
            others.push_back(table);
    };
    const auto includeAll = [&](const auto& list) {
        for (const auto& each : list) include(each.table);
    };
    includeAll(outcome.withdrawn);
    includeAll(outcome.awards);
    includeAll(outcome.locked);
    includeAll(outcome.refunds);
    includeAll(outcome.claims);
    if (std::holds_alternative<rules::WithholdAward>(command) ||
        std::holds_alternative<rules::ReleaseAward>(command))
        if (const auto table = state.findTable(*tableOf(command))) include(*table);
    for (const std::uint32_t table : others) {
        Settlement settlement{record, displayedCents(state, table), {}};
        appendLists(settlement.details, outcome, table);
        addWithholding(settlement.details, command, state.tables[table]);
        add({0, table}, std::move(settlement));
    }
}

void Replies::addSuspension(std::uint32_t table, const rules::State& state, std::string reason)
{
    const auto& by = state.tables[table].suspended;
    add({0, table}, Suspension{by.has_value(), by == rules::Origin::Desk, std::move(reason)});
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
