#include "rules/awards.h"

#include <algorithm>
#include <ranges>

namespace jackpot::rules {
namespace {

template <class AnyTable>
auto& recordsOf(AnyTable& table, Tier tier)
{
    return isJackpot(tier) ? table.jackpots : table.awards;
}

// The newest first: that is what people mostly ask for.
template <class AnyTable>
auto findIn(AnyTable& table, std::int64_t round, std::int64_t seat, Tier tier)
    -> decltype(table.awards.data())
{
    for (auto& record : recordsOf(table, tier) | std::views::reverse)
        if (record.round == round && record.seat == seat && record.tier == tier) return &record;
    return nullptr;
}

// Keeps at least the newest kAwardsKnown; of jackpots also those that are open or have no payment.
void forgetOldest(Table& table, std::vector<AwardRecord>& records)
{
    if (records.size() < 2 * kAwardsKnown) return;
    const auto oldest = records.begin() + kAwardsKnown;
    const bool jackpots = &records == &table.jackpots;
    const auto kept = std::remove_if(records.begin(), oldest, [&](const AwardRecord& record) {
        if (!jackpots) return true;
        const Round* round = table.findRound(record.round);
        if (round && round->hasOpenWin()) return false;
        return record.state != AwardRecord::State::Due || record.payments > 0;
    });
    records.erase(kept, oldest);
}

}  // namespace

AwardRecord* findAward(Table& table, std::int64_t round, std::int64_t seat, Tier tier)
{
    return findIn(table, round, seat, tier);
}

const AwardRecord* findAward(const Table& table, std::int64_t round, std::int64_t seat, Tier tier)
{
    return findIn(table, round, seat, tier);
}

AwardRecord& recordAward(Table& table, std::int64_t round, const WinAward& award, bool due)
{
    AwardRecord* known = findAward(table, round, award.seat, award.tier);
    if (!known) return recordNewAward(table, round, award, due);
    known->amount = award.amount;
    known->state = due ? AwardRecord::State::Due : AwardRecord::State::Locked;
    known->wasDue = known->wasDue || due;
    return *known;
}

AwardRecord& recordNewAward(Table& table, std::int64_t round, const WinAward& award, bool due)
{
    auto& records = recordsOf(table, award.tier);
    forgetOldest(table, records);
    AwardRecord& record = records.emplace_back();
    record.round = round;
    record.seat = static_cast<std::int8_t>(award.seat);
    record.tier = award.tier;
    record.amount = award.amount;
    record.state = due ? AwardRecord::State::Due : AwardRecord::State::Locked;
    record.wasDue = due;
    return record;
}

bool isPaidOrWithheld(const Table& table, std::int64_t round, std::optional<std::int64_t> seat)
{
    const auto touched = [&](const AwardRecord& record) {
        return record.round == round && (!seat || record.seat == *seat) &&
               (record.payments > 0 || record.withheld);
    };
    return std::ranges::any_of(table.awards, touched) ||
           std::ranges::any_of(table.jackpots, touched);
}

}  // namespace jackpot::rules
