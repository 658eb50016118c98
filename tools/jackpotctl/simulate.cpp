#include "tools/jackpotctl/simulate.h"

#include <algorithm>
#include <limits>

#include "rules/settle_due.h"
#include "rules/simultaneous.h"
#include "storage/json_text.h"

namespace jackpot::ctl {
namespace {

using storage::JsonText;

template <class Fill>
std::string object(Fill&& fill)
{
    std::string text;
    JsonText json{text};
    json.beginObject();
    fill(json);
    json.endObject();
    return text;
}

// One entry a line, so that people and line-based tools can read it too.
class Lists {
public:
    void add(std::string_view name, const std::vector<std::string>& entries)
    {
        text_ += text_.empty() ? "{\n" : ",\n";
        text_ += "\"" + std::string{name} + "\": [";
        for (std::size_t i = 0; i < entries.size(); ++i)
            text_ += (i == 0 ? "\n  " : ",\n  ") + entries[i];
        text_ += entries.empty() ? "]" : "\n]";
    }
    [[nodiscard]] std::string text() const { return text_ + "\n}\n"; }

private:
    std::string text_;
};

std::string awardJson(const rules::State& state, const rules::Award& award)
{
    return object([&](JsonText& json) {
        json.textField("table", state.tables[award.table].config.id);
        json.numberField("round", award.round);
        json.numberField("seat", award.seat);
        json.textField("tier", idOf(award.tier));
        json.textField("amount", toCents(award.amount));
    });
}

std::string refundJson(const rules::State& state, const rules::Refund& refund)
{
    return object([&](JsonText& json) {
        json.textField("table", state.tables[refund.table].config.id);
        json.numberField("round", refund.round);
        json.numberField("seat", refund.seat);
        json.textField("amount", toCents(refund.amount));
    });
}

std::string refusalJson(std::size_t event, std::string_view code)
{
    return object([&](JsonText& json) {
        json.numberField("event", static_cast<std::int64_t>(event));
        json.textField("code", code);
    });
}

std::string heldJson(const std::string& pool, const std::vector<rules::RoundRef>& rounds)
{
    return object([&](JsonText& json) {
        json.textField("pool", pool);
        json.key("rounds");
        json.beginArray();
        for (const rules::RoundRef& ref : rounds) {
            json.beginArray();
            json.text(ref.table);
            json.number(ref.round);
            json.endArray();
        }
        json.endArray();
    });
}

std::string changeJson(rules::TimeMs atMs, const std::string& pool, rules::ParametersState state)
{
    return object([&](JsonText& json) {
        json.numberField("at_ms", atMs);
        json.textField("pool", pool);
        json.textField("state", idOf(state));
    });
}

std::string poolJson(const rules::Pool& pool)
{
    return object([&](JsonText& json) {
        json.textField("id", pool.config.id);
        json.textField("displayed", toCents(pool.displayed()));
        json.textField("amount", toExact(pool.meter));
        json.textField("reserve", toExact(pool.reserve));
        json.textField("seeded", toExact(pool.totals.seeded));
        json.textField("contributed", toExact(pool.totals.contributed));
        json.textField("returned", toExact(pool.totals.returned));
        json.textField("from_reserve", toExact(pool.totals.fromReserve));
        json.textField("paid_from_pool", toExact(pool.totals.paidFromPool));
        json.textField("paid_by_house", toExact(pool.totals.paidByHouse));
        json.textField("adjusted", toExact(pool.totals.adjusted));
    });
}

// The board is the dealer's card in Blazing 7's and the flop in UTH; the other game's is none.
rules::Command withOwnBoard(const ScenarioEvent& event, const rules::State& state)
{
    rules::Command command = *event.command;
    auto* result = std::get_if<rules::ReportResult>(&command);
    if (auto* corrected = std::get_if<rules::CorrectResult>(&command)) result = &corrected->result;
    if (!result) return command;
    const auto table = state.findTable(result->table);
    if (table && state.pools[state.tables[*table].pool].config.game != event.boardOf)
        result->board.clear();
    return command;
}

}  // namespace

std::vector<rules::RoundRef> sortedHeldRounds(const rules::State& state, const rules::Pool& pool)
{
    std::vector<rules::RoundRef> rounds = rules::heldRounds(state, pool);
    std::ranges::sort(rounds);
    return rounds;
}

rules::State simulate(const Scenario& scenario,
                      const std::function<void(const Step&, const rules::State&)>& observe)
{
    rules::State state;
    const auto carryOut = [&](const rules::Command& command, rules::TimeMs atMs,
                              std::optional<std::size_t> event) {
        const rules::Outcome outcome = apply(state, command, atMs);
        observe({atMs, event, &command, &outcome}, state);
    };
    const auto settleDue = [&](const rules::SettleDue& command, rules::TimeMs atMs) {
        carryOut(command, atMs, std::nullopt);
    };

    carryOut(rules::ConfigureSite{scenario.site},
             scenario.events.empty() ? 0 : scenario.events.front().atMs, std::nullopt);
    for (std::size_t i = 0; i < scenario.events.size(); ++i) {
        const ScenarioEvent& event = scenario.events[i];
        rules::settleDue(state, event.atMs, settleDue);
        if (event.command)
            carryOut(withOwnBoard(event, state), event.atMs, i);
        else
            observe({event.atMs, i, nullptr, nullptr}, state);
    }
    rules::settleDue(state, std::numeric_limits<rules::TimeMs>::max(), settleDue);
    return state;
}

std::string simulateToJson(const Scenario& scenario)
{
    std::vector<std::string> payouts;
    std::vector<std::string> withdrawn;
    std::vector<std::string> refunds;
    std::vector<std::string> refused;
    std::vector<std::string> changes;
    const rules::State end = simulate(scenario, [&](const Step& step, const rules::State& state) {
        if (!step.command) {
            refused.push_back(refusalJson(*step.event, "unknown_event"));
            return;
        }
        const rules::Outcome& outcome = *step.outcome;
        if (outcome.refusal && step.event)
            refused.push_back(refusalJson(*step.event, idOf(outcome.refusal->code)));
        for (const auto& award : outcome.awards) payouts.push_back(awardJson(state, award));
        for (const auto& award : outcome.withdrawn) withdrawn.push_back(awardJson(state, award));
        for (const auto& refund : outcome.refunds) refunds.push_back(refundJson(state, refund));
        if (const auto& change = outcome.parameters)
            changes.push_back(
                changeJson(step.atMs, state.pools[*outcome.pool].config.id, change->state));
    });

    std::vector<std::string> held;
    std::vector<std::string> pools;
    std::vector<const rules::Pool*> byId;
    for (const rules::Pool& pool : end.pools) {
        byId.push_back(&pool);
        pools.push_back(poolJson(pool));
    }
    std::ranges::sort(byId, {}, [](const rules::Pool* pool) { return pool->config.id; });
    for (const rules::Pool* pool : byId)
        if (const auto rounds = sortedHeldRounds(end, *pool); !rounds.empty())
            held.push_back(heldJson(pool->config.id, rounds));

    Lists lists;
    lists.add("payouts", payouts);
    lists.add("withdrawn", withdrawn);
    lists.add("refunds", refunds);
    lists.add("refused", refused);
    lists.add("held", held);
    lists.add("pools", pools);
    lists.add("changes", changes);
    return lists.text();
}

}  // namespace jackpot::ctl
