#include "tools/jackpotctl/simulate.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "rules/holds.h"
#include "rules/settlement.h"
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

template <class AnyAward>
std::string awardJson(const rules::State& state, const AnyAward& award)
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

std::string noticeJson(std::size_t event, rules::NoticeKind kind)
{
    return object([&](JsonText& json) {
        json.numberField("event", static_cast<std::int64_t>(event));
        json.textField("kind", idOf(kind));
        json.key("to");
        json.beginArray();
        const rules::Notify to = recipientsOf(kind);
        if (to != rules::Notify::Inspector) json.text("surveillance");
        if (to != rules::Notify::Surveillance) json.text("inspector");
        json.endArray();
    });
}

// What was paid for each award, or without one, against what is due.
class Payments {
public:
    void add(const rules::State& state, const Step& step)
    {
        const rules::Outcome& outcome = *step.outcome;
        for (const auto& award : outcome.withdrawn) of(state, award).dueCents = 0;
        for (const auto& award : outcome.awards) of(state, award).dueCents = award.amount.cents();
        if (const auto* payment = std::get_if<rules::RecordPayment>(step.command);
            payment && outcome.payment) {
            const rules::AwardRef& ref = payment->award;
            Paid& paid = paid_[{ref.table, ref.round, ref.seat,
                                std::string{payment->withoutAward ? "none" : idOf(ref.tier)}}];
            paid.paidCents += payment->paid.cents();
            paid.any = true;
        }
    }

    [[nodiscard]] std::vector<std::string> differences() const
    {
        std::vector<std::string> all;
        for (const auto& [key, paid] : paid_)
            if (paid.any && paid.paidCents != paid.dueCents)
                all.push_back(object([&key = key, &paid = paid](JsonText& json) {
                    json.textField("table", std::get<0>(key));
                    json.numberField("round", std::get<1>(key));
                    json.numberField("seat", std::get<2>(key));
                    json.textField("tier", std::get<3>(key));
                    json.textField("due", text(paid.dueCents));
                    json.textField("paid", text(paid.paidCents));
                }));
        return all;
    }

private:
    struct Paid {
        std::int64_t dueCents = 0;
        std::int64_t paidCents = 0;  // in sum
        bool any = false;
    };

    template <class AnyAward>
    Paid& of(const rules::State& state, const AnyAward& award)
    {
        return paid_[{state.tables[award.table].config.id, award.round, award.seat,
                      std::string{idOf(award.tier)}}];
    }
    // A sum may be more than an amount of money can be.
    static std::string text(std::int64_t cents)
    {
        const std::uint64_t size =
            cents < 0 ? 0 - static_cast<std::uint64_t>(cents) : static_cast<std::uint64_t>(cents);
        const std::string rest = std::to_string(size % 100);
        return (cents < 0 ? "-" : "") + std::to_string(size / 100) +
               (rest.size() == 1 ? ".0" : ".") + rest;
    }

    std::map<std::tuple<std::string, std::int64_t, std::int64_t, std::string>, Paid> paid_;
};

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

// The board is the dealer's card in Blazing 7's and the flop in UTH; the other game's is ignored.
rules::Command withOwnBoard(const ScenarioEvent& event, const rules::State& state)
{
    rules::Command command = *event.command;
    auto* result = std::get_if<rules::ReportResult>(&command);
    if (auto* corrected = std::get_if<rules::CorrectResult>(&command)) result = &corrected->result;
    if (!result) return command;
    const auto table = state.findTable(result->table);
    if (!table) return command;
    const bool blazing =
        state.pools[state.tables[*table].pool].config.game == rules::Game::BlazingSevens;
    result->board = blazing ? event.dealer : event.flop;
    return command;
}

void moveTo(std::vector<std::string>& all, std::vector<std::string>& more)
{
    std::ranges::move(more, std::back_inserter(all));
    more.clear();
}

// Awards that became due in one look at all pools come in the order of their wins' arrival.
class LookAwards {
public:
    // Before the look.
    void begin(const rules::State& state)
    {
        for (const rules::Pool& pool : state.pools)
            for (const rules::Win& win : pool.wins) orders_[{win.table, win.round}] = win.order;
    }
    void add(const rules::State& state, const std::vector<rules::Award>& awards)
    {
        for (const rules::Award& award : awards)
            awards_.emplace(orders_[{award.table, award.round}], awardJson(state, award));
    }
    void moveTo(std::vector<std::string>& payouts)
    {
        for (auto& [order, json] : awards_) payouts.push_back(std::move(json));
        awards_.clear();
        orders_.clear();
    }

private:
    std::map<std::pair<std::uint32_t, std::int64_t>, std::uint64_t> orders_;
    std::multimap<std::uint64_t, std::string> awards_;
};

}  // namespace

std::vector<std::vector<rules::RoundRef>> sortedHolds(const rules::State& state,
                                                      const rules::Pool& pool)
{
    auto holds = rules::holdsOf(state, pool);
    for (auto& rounds : holds) std::ranges::sort(rounds);
    std::ranges::sort(holds);
    return holds;
}

std::vector<rules::Award> lockedAwards(const rules::State& state, const rules::Pool& pool)
{
    std::vector<rules::Award> locked;
    for (const rules::Place& place : pool.places) {
        std::vector<const rules::Win*> group;
        for (const rules::Win& win : pool.wins)
            if (win.place == place.key && !win.due) group.push_back(&win);
        std::ranges::sort(group, [&state](const rules::Win* a, const rules::Win* b) {
            return std::tie(a->arrivedMs, state.tables[a->table].config.id) <
                   std::tie(b->arrivedMs, state.tables[b->table].config.id);
        });
        for (rules::Award& award : settle(state, pool, group, place.before).awards)
            locked.push_back(std::move(award));
    }
    return locked;
}

rules::State simulate(const Scenario& scenario,
                      const std::function<void(const Step&, const rules::State&)>& observe)
{
    rules::State state;
    const auto carryOut = [&](const rules::Command& command, rules::TimeMs atMs, std::size_t event,
                              bool isLook) {
        const rules::Outcome outcome = apply(state, command, atMs);
        observe({atMs, event, isLook, &command, &outcome}, state);
    };
    // One look at each pool, at the event's time: a win that it makes due is not final before the
    // next.
    const auto look = [&](rules::TimeMs atMs, std::size_t event) {
        for (std::size_t i = 0; i < state.pools.size(); ++i)
            if (state.pools[i].nextLookMs <= atMs)
                carryOut(rules::SettleDue{state.pools[i].config.id}, atMs, event, true);
    };

    carryOut(rules::ConfigureSite{scenario.site},
             scenario.events.empty() ? 0 : scenario.events.front().atMs, 0, true);
    for (std::size_t i = 0; i < scenario.events.size(); ++i) {
        const ScenarioEvent& event = scenario.events[i];
        look(event.atMs, i);
        if (event.command)
            carryOut(withOwnBoard(event, state), event.atMs, i, false);
        else
            observe({event.atMs, i, false, nullptr, nullptr}, state);
    }
    look(kEndOfTime, scenario.events.size());
    return state;
}

std::string simulateToJson(const Scenario& scenario)
{
    std::vector<std::string> payouts;
    std::vector<std::string> withdrawn;
    std::vector<std::string> refunds;
    std::vector<std::string> refused;
    std::vector<std::string> notices;
    std::vector<std::string> lookNotices;
    std::vector<std::string> changes;
    Payments payments;
    LookAwards look;
    const rules::State end = simulate(scenario, [&](const Step& step, const rules::State& state) {
        if (!step.isLook) look.moveTo(payouts);
        if (!step.command) {
            refused.push_back(refusalJson(step.event, "unknown_event"));
            moveTo(notices, lookNotices);
            look.begin(state);
            return;
        }
        const rules::Outcome& outcome = *step.outcome;
        if (outcome.refusal && !step.isLook)
            refused.push_back(refusalJson(step.event, idOf(outcome.refusal->code)));
        if (step.isLook)
            look.add(state, outcome.awards);
        else
            for (const auto& award : outcome.awards) payouts.push_back(awardJson(state, award));
        for (const auto& award : outcome.withdrawn) withdrawn.push_back(awardJson(state, award));
        for (const auto& refund : outcome.refunds) refunds.push_back(refundJson(state, refund));
        // An event's own notices come before those of the looks before it.
        for (const auto& notice : outcome.notices)
            if (notice.kind != rules::NoticeKind::ParametersInForce)  // `changes` reports it
                (step.isLook ? lookNotices : notices)
                    .push_back(noticeJson(step.event, notice.kind));
        if (!step.isLook) moveTo(notices, lookNotices);
        payments.add(state, step);
        if (const auto& change = outcome.parameters)
            changes.push_back(
                changeJson(step.atMs == kEndOfTime ? scenario.events.back().atMs : step.atMs,
                           state.pools[*outcome.pool].config.id, change->state));
        look.begin(state);
    });
    look.moveTo(payouts);
    moveTo(notices, lookNotices);

    std::vector<std::string> held;
    std::vector<std::string> locked;
    std::vector<std::string> pools;
    std::vector<const rules::Pool*> byId;
    for (const rules::Pool& pool : end.pools) {
        byId.push_back(&pool);
        pools.push_back(poolJson(pool));
        for (const auto& award : lockedAwards(end, pool)) locked.push_back(awardJson(end, award));
    }
    std::ranges::sort(byId, {}, [](const rules::Pool* pool) { return pool->config.id; });
    for (const rules::Pool* pool : byId)
        for (const auto& rounds : sortedHolds(end, *pool))
            held.push_back(heldJson(pool->config.id, rounds));

    Lists lists;
    lists.add("payouts", payouts);
    lists.add("withdrawn", withdrawn);
    lists.add("refunds", refunds);
    lists.add("refused", refused);
    lists.add("held", held);
    lists.add("locked", locked);
    lists.add("differences", payments.differences());
    lists.add("notices", notices);
    lists.add("pools", pools);
    lists.add("changes", changes);
    return lists.text();
}

}  // namespace jackpot::ctl
