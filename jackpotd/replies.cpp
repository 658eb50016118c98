#include "jackpotd/replies.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "jackpotd/repeated_reply.h"
#include "linkproto/server/server_codec.h"

namespace jackpot {
namespace {

namespace v1 = linkproto::v1;

// Awards, and claims, in one Settlement: a frame holds that many.
constexpr int kMaxInSettlement = 24;

std::int64_t displayedCents(const rules::State& state, std::uint32_t table)
{
    return state.pools[state.tables[table].pool].displayed().cents();
}

}  // namespace

v1::ToTable& Replies::add(const Recipient& to)
{
    delivery_.outgoing.push_back({to.connection, to.table, v1::ToTable{}});
    return std::get<v1::ToTable>(delivery_.outgoing.back().what);
}

void Replies::addWelcome(const Recipient& to, const storage::Verifier& verifier,
                         const rules::State& state, bool isRestored)
{
    v1::Welcome& welcome = *add(to).mutable_welcome();
    welcome.set_version(linkproto::kLinkVersion);
    welcome.set_site(verifier.name());
    welcome.set_verifier(verifier.format());
    welcome.set_last_number(state.tables[to.table].heard.number);
    welcome.set_restored(isRestored);
    linkproto::writeState(*welcome.mutable_state(), state, to.table);
}

void Replies::addState(const Recipient& to, const rules::State& state)
{
    linkproto::writeState(*add(to).mutable_state(), state, to.table);
}

void Replies::addDecision(const Recipient& to, std::uint64_t number, std::uint64_t record,
                          const rules::Outcome& outcome, const rules::State& state)
{
    linkproto::Decided decided;
    decided.number = number;
    decided.record = record;
    decided.displayedCents = displayedCents(state, to.table);
    decided.details = linkproto::toDecision(outcome, to.table);
    delivery_.outgoing.push_back({to.connection, to.table, std::move(decided)});
}

Result<void> Replies::addRepeatedDecision(const Recipient& to, std::uint64_t number,
                                          const std::string& table, const std::string& payload,
                                          const std::string& checkpoint)
{
    v1::Decisions decisions;
    v1::Decision& decision = *decisions.add_decisions();
    if (auto read = readDecision(payload, table, decision); !read) return read;
    decision.set_number(number);
    decision.set_again(true);
    v1::Receipt& receipt = *decisions.mutable_receipt();
    if (const auto covering = storage::readCheckpoint(checkpoint)) {
        receipt.set_size(covering->size);
        receipt.set_root(std::string{covering->root.view()});
    }
    receipt.set_note(checkpoint);
    *add(to).mutable_decisions() = std::move(decisions);
    return {};
}

void Replies::addRejection(const Recipient& to, std::uint64_t number, v1::Rejected::Why reason,
                           std::uint64_t expected, const std::string& detail)
{
    v1::Rejected& rejected = *add(to).mutable_rejected();
    rejected.set_number(number);
    rejected.set_why(reason);
    rejected.set_expected(expected);
    rejected.set_detail(detail);
}

void Replies::addSuspension(std::uint32_t table, bool isSuspended, const std::string& reason)
{
    v1::Suspension& suspension = *add({0, table}).mutable_suspension();
    suspension.set_suspended(isSuspended);
    suspension.set_reason(reason);
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
        v1::Settlement all;
        if (!linkproto::writeSettlement(all, outcome, table)) continue;
        const int count = std::max(all.awards_size(), all.claims_size());
        for (int first = 0; first < count; first += kMaxInSettlement) {
            const int end = first + kMaxInSettlement;
            v1::Settlement& part = *add({0, table}).mutable_settlement();
            part.set_record(record);
            part.set_displayed_cents(displayedCents(state, table));
            for (int i = first; i < std::min(end, all.awards_size()); ++i)
                *part.add_awards() = all.awards(i);
            for (int i = first; i < std::min(end, all.claims_size()); ++i)
                *part.add_claims() = all.claims(i);
        }
    }
}

void Replies::addPoolNews(std::uint32_t pool, const rules::State& state)
{
    v1::PoolNews news;
    linkproto::writeNews(news, state.pools[pool]);
    for (std::uint32_t table = 0; table < state.tables.size(); ++table)
        if (state.tables[table].pool == pool) *add({0, table}).mutable_pool() = news;
}

void Replies::addGoodbye(const Recipient& to, v1::Goodbye::Why reason, const std::string& detail)
{
    v1::Goodbye& goodbye = *add(to).mutable_goodbye();
    goodbye.set_why(reason);
    goodbye.set_detail(detail);
}

void Replies::addGoodbyeToAll(const rules::State& state, v1::Goodbye::Why reason,
                              const std::string& detail)
{
    for (std::uint32_t table = 0; table < state.tables.size(); ++table)
        addGoodbye({0, table}, reason, detail);
}

void Replies::addUnavailableToAll(const rules::State& state, const std::string& detail)
{
    for (std::uint32_t table = 0; table < state.tables.size(); ++table) {
        v1::PoolNews& news = *add({0, table}).mutable_pool();
        news.set_pool(state.pools[state.tables[table].pool].config.id);
        news.set_unavailable(true);
        addGoodbye({0, table}, v1::Goodbye::UNAVAILABLE, detail);
    }
}

linkproto::Delivery Replies::release(const storage::Receipt& receipt)
{
    delivery_.receipt.set_size(receipt.size);
    delivery_.receipt.set_root(std::string{receipt.root.view()});
    delivery_.receipt.set_note(receipt.note);
    for (linkproto::Outgoing& each : delivery_.outgoing)
        if (auto* message = std::get_if<v1::ToTable>(&each.what);
            message && message->has_settlement())
            *message->mutable_settlement()->mutable_receipt() = delivery_.receipt;
    return release();
}

linkproto::Delivery Replies::release() { return std::exchange(delivery_, {}); }

}  // namespace jackpot
