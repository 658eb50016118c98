// The account of a simulation for people: `jackpotctl simulate --explain`.
#include <algorithm>
#include <array>

#include "audit/describe.h"
#include "base/printable.h"
#include "rules/explain.h"
#include "tools/jackpotctl/simulate.h"

namespace jackpot::ctl {
namespace {

using rules::Money;

constexpr std::string_view kIndent = "                ";

std::string clock(rules::TimeMs atMs)
{
    const bool negative = atMs < 0;
    const std::int64_t ms = negative ? -atMs : atMs;
    const auto padded = [](std::int64_t number, std::size_t width) {
        std::string digits = std::to_string(number);
        if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
        return digits;
    };
    return (negative ? "-" : "") + padded(ms / 3'600'000, 2) + ":" + padded(ms / 60'000 % 60, 2) +
           ":" + padded(ms / 1000 % 60, 2) + "." + padded(ms % 1000, 3);
}

std::string gameTitle(rules::Game game)
{
    return game == rules::Game::BlazingSevens ? "Blazing 7's" : "Ultimate Texas Hold'em";
}

std::string joined(const std::vector<std::string>& parts, std::string_view between)
{
    std::string text;
    for (const std::string& part : parts) {
        if (!text.empty()) text += between;
        text += part;
    }
    return text;
}

std::string roundOf(std::string_view table, std::int64_t round)
{
    return std::string{table} + " round " + std::to_string(round);
}

std::string causeInWords(rules::Cause cause, Money amount)
{
    switch (cause) {
        case rules::Cause::Contribution: return "contributions " + toRead(amount);
        case rules::Cause::Return: return "contributions taken back " + toRead(-amount);
        case rules::Cause::Award: return "awards " + toRead(-amount);
        case rules::Cause::Seed: return "put in by the house " + toRead(amount);
        case rules::Cause::FromReserve: return "put in by the reserve " + toRead(amount);
        case rules::Cause::Adjustment: return "adjustment " + toRead(amount);
        case rules::Cause::Wager:
        case rules::Cause::Refund:
        case rules::Cause::MakeGood:
        case rules::Cause::Withdrawal: break;  // these do not touch the meter
    }
    return {};
}

class Account {
public:
    explicit Account(const Scenario& scenario)
    {
        line(scenario.name.empty() ? "Scenario" : "Scenario: " + scenario.name);
        line("");
        line("Pools");
        for (const rules::PoolConfig& pool : scenario.site.pools) describe(pool);
        line("");
        line("What happened");
    }

    void add(const Step& step, const rules::State& state)
    {
        if (!step.command) {
            line(clock(step.atMs) + "    an event of an unknown type");
            detail("REFUSED (unknown_event)");
            return;
        }
        const rules::Outcome& outcome = *step.outcome;
        line(clock(step.atMs) + "    " + audit::commandInWords(*step.command));
        if (outcome.refusal) {
            const rules::Refusal& refusal = *outcome.refusal;
            detail("REFUSED (" + std::string{idOf(refusal.code)} + "): " + refusal.detail +
                   (refusal.rule.empty() ? "" : " [" + std::string{refusal.rule} + "]"));
        }
        for (const rules::Award& award : outcome.withdrawn)
            detail("withdrawn: " + place(state, award.table, award.round, award.seat) + ", " +
                   std::string{titleOf(award.tier)} + ", " + toRead(award.amount));
        for (const rules::Refund& refund : outcome.refunds)
            detail("returned: " + place(state, refund.table, refund.round, refund.seat) +
                   ", wager of " + toRead(refund.amount));
        addClaims(outcome, state);
        for (const rules::Award& award : outcome.awards) {
            const std::string text = "award " + std::to_string(awards_.size() + 1) + ": " +
                                     place(state, award.table, award.round, award.seat) + ", " +
                                     std::string{titleOf(award.tier)} + ", " +
                                     toRead(award.amount) + " [" + std::string{award.rule} + "]";
            detail(text);
            detail("    " + arithmeticInWords(award));
            awards_.push_back(clock(step.atMs) + "  " +
                              place(state, award.table, award.round, award.seat) + ", " +
                              std::string{titleOf(award.tier)} + ", " + toRead(award.amount) +
                              " [" + std::string{award.rule} + "]");
        }
        addChanges(outcome, state);
        for (const rules::Notice& notice : outcome.notices)
            detail(std::string{notice.whom == rules::Notify::Inspector
                                   ? "notice to an inspector"
                                   : "notice to Surveillance and an inspector"} +
                   " [" + std::string{notice.rule} + "]");
        addMeters(outcome, state);
    }

    std::string finish(const rules::State& state)
    {
        line("");
        line("Awards in the order of payment");
        for (std::size_t i = 0; i < awards_.size(); ++i)
            line("  " + std::to_string(i + 1) + ". " + awards_[i]);
        if (awards_.empty()) line("  none");
        for (const rules::Pool& pool : state.pools) reconcile(pool, state);
        return std::move(text_);
    }

private:
    void line(const std::string& text) { text_ += printable(text) + "\n"; }
    void detail(const std::string& text) { line(std::string{kIndent} + text); }

    static std::string place(const rules::State& state, std::uint32_t table, std::int64_t round,
                             int seat)
    {
        return roundOf(state.tables[table].config.id, round) + " seat " + std::to_string(seat);
    }

    void describe(const rules::PoolConfig& pool)
    {
        std::string text = "  " + pool.id + ": " + gameTitle(pool.game) + ", wager " +
                           toRead(pool.wager) + ", increment " + toText(pool.increment);
        if (pool.reserveIncrement > rules::Rate{})
            text += ", reserve increment " + toText(pool.reserveIncrement);
        text += ", minimum " + toRead(pool.minimum) + ", opening amount " +
                toRead(pool.openingAmount());
        if (pool.cap) text += ", cap " + toRead(*pool.cap);
        line(text);
    }

    void addClaims(const rules::Outcome& outcome, const rules::State& state)
    {
        static constexpr std::array<std::string_view, 5> kWords{
            "jackpot claimed", "jackpot confirmed, waits for other tables' buttons",
            "HELD until Surveillance rules which wins were at the same time [BJ 14.27.4]", "",
            "jackpot claim dropped"};
        for (const rules::ClaimChange& claim : outcome.claims) {
            if (claim.state == rules::ClaimState::Settled) continue;  // its award is reported
            detail(std::string{kWords.at(static_cast<std::size_t>(claim.state))} + ": " +
                   place(state, claim.table, claim.round, claim.seat) + ", " +
                   std::string{titleOf(claim.tier)});
        }
    }

    void addChanges(const rules::Outcome& outcome, const rules::State& state)
    {
        if (const auto& change = outcome.parameters) {
            static constexpr std::array<std::string_view, 3> kWords{
                "agreed for the next reset", "IN FORCE from now on", "taken back, not in force"};
            detail("parameters of " + state.pools[*outcome.pool].config.id + " " +
                   std::string{kWords.at(static_cast<std::size_t>(change->state))} + ": " +
                   changeInWords(change->from, change->to));
        }
        if (!outcome.amendment) return;
        const auto list = [&](std::string_view what, const std::vector<std::uint32_t>& indices,
                              const auto& all) {
            std::vector<std::string> ids;
            for (const std::uint32_t i : indices) ids.push_back(all[i].config.id);
            if (!ids.empty()) detail(std::string{what} + ": " + joined(ids, ", "));
        };
        list("new pools", outcome.amendment->newPools, state.pools);
        list("new tables", outcome.amendment->newTables, state.tables);
        list("changed tables", outcome.amendment->changedTables, state.tables);
    }

    // What the step did to each meter that it moved, cause by cause.
    void addMeters(const rules::Outcome& outcome, const rules::State& state)
    {
        for (std::uint32_t i = 0; i < state.pools.size(); ++i) {
            Money before = state.pools[i].meter;
            Money reserve;
            std::vector<std::string> causes;
            for (const rules::Posting& posting : outcome.postings) {
                if (posting.pool != i) continue;
                if (posting.account == rules::Account::Reserve) reserve += posting.amount;
                if (posting.account != rules::Account::Meter) continue;
                before -= posting.amount;
                causes.push_back(causeInWords(posting.cause, posting.amount));
            }
            if (!causes.empty())
                detail("pool " + state.pools[i].config.id + ": " + toRead(before) + " -> " +
                       toRead(state.pools[i].meter) + " (" + joined(causes, ", ") + ")");
            if (reserve != Money{})
                detail("reserve of " + state.pools[i].config.id + ": " +
                       toRead(state.pools[i].reserve - reserve) + " -> " +
                       toRead(state.pools[i].reserve));
        }
    }

    void reconcile(const rules::Pool& pool, const rules::State& state)
    {
        const rules::Totals& t = pool.totals;
        const auto row = [this](std::string_view what, Money amount) {
            std::string label{what};
            label.resize(34, ' ');
            std::string figure = toRead(amount);
            if (figure.size() < 24) figure.insert(0, 24 - figure.size(), ' ');
            line("  " + label + figure);
        };
        line("");
        line("Pool " + pool.config.id + (pool.suspended ? " (suspended)" : ""));
        row("put in by the house", t.seeded);
        row("contributed by wagers", t.contributed);
        row("taken back with returned wagers", -t.returned);
        row("paid to players from the pool", -t.paidFromPool);
        row("adjusted by hand", t.adjusted);
        row("= meter and reserve", pool.meter + pool.reserve);
        row("  of which meter", pool.meter);
        row("  of which reserve", pool.reserve);
        row("displayed amount", pool.displayed());
        row("paid to players by the house", t.paidByHouse);
        row("resets paid by the reserve", t.fromReserve);
        if (pool.next)
            line("  agreed for the next reset: " +
                 changeInWords(parametersOf(pool.config), *pool.next));
        for (const rules::RoundRef& ref : sortedHeldRounds(state, pool))
            line("  waits for a ruling: " + roundOf(ref.table, ref.round));
    }

    std::string text_;
    std::vector<std::string> awards_;
};

}  // namespace

std::string simulateToAccount(const Scenario& scenario)
{
    Account account{scenario};
    const rules::State end = simulate(
        scenario, [&](const Step& step, const rules::State& state) { account.add(step, state); });
    return account.finish(end);
}

}  // namespace jackpot::ctl
