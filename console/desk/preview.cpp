#include "console/desk/preview.h"

#include <algorithm>

#include "rules/settle_due.h"
#include "storage/json_text.h"
#include "storage/sha256.h"

namespace jackpot::console {

Preview previewCommand(const rules::State& state, const rules::Command& command)
{
    Preview preview{{}, state};
    rules::TimeMs now = 0;
    for (const rules::Pool& pool : state.pools)
        for (const rules::Win& each : pool.wins) now = std::max(now, each.arrivedMs);
    rules::settleDue(preview.after, now, [&](const rules::SettleDue& due, rules::TimeMs) {
        apply(preview.after, due, now);
    });
    preview.outcome = apply(preview.after, command, now);
    return preview;
}

std::vector<RulingOrder> possibleRulings(const std::vector<rules::RoundRef>& held)
{
    if (held.empty()) return {};
    if (held.size() > kAllRulingsUpTo) {
        RulingOrder oneByOne;
        for (const rules::RoundRef& each : held) oneByOne.push_back({each});
        return {{held}, oneByOne};
    }
    // Each round joins a group of the earlier rounds, or forms a new group before, between or after
    // them.
    std::vector<RulingOrder> orders{{}};
    for (const rules::RoundRef& each : held) {
        std::vector<RulingOrder> longer;
        for (const RulingOrder& order : orders) {
            for (std::size_t i = 0; i < order.size(); ++i) {
                longer.push_back(order);
                longer.back()[i].push_back(each);
            }
            for (std::size_t i = 0; i <= order.size(); ++i) {
                longer.push_back(order);
                longer.back().insert(longer.back().begin() + static_cast<std::ptrdiff_t>(i),
                                     {each});
            }
        }
        orders = std::move(longer);
    }
    std::ranges::stable_sort(orders, {}, &RulingOrder::size);
    return orders;
}

std::uint64_t holdOf(const rules::State& state, const rules::Pool& pool, const RulingOrder& order)
{
    if (order.empty() || order.front().empty()) return 0;
    const rules::RoundRef& first = order.front().front();
    for (const rules::Win& win : pool.wins)
        if (win.round == first.round && state.tables[win.table].config.id == first.table)
            return win.hold;
    return 0;
}

std::string rulingToken(const rules::State& before, const rules::Pool& pool,
                        const RulingOrder& order, const rules::Outcome& outcome)
{
    std::string text;
    storage::JsonText json{text};
    json.beginArray();
    const std::uint64_t hold = holdOf(before, pool, order);
    for (const rules::Win& each : pool.wins) {
        if (each.hold != hold) continue;
        json.text(before.tables[each.table].config.id);
        json.number(each.round);
        json.number(each.pressedMs);
    }
    const auto addAwards = [&](const auto& awards) {
        json.beginArray();
        for (const auto& each : awards) {
            json.text(before.tables[each.table].config.id);
            json.number(each.round);
            json.number(each.seat);
            json.text(idOf(each.tier));
            json.money(each.amount);
        }
        json.endArray();
    };
    addAwards(outcome.awards);
    addAwards(outcome.withdrawn);
    addAwards(outcome.locked);
    json.endArray();
    return storage::sha256({text}).hex();
}

}  // namespace jackpot::console
