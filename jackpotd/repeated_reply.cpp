#include "jackpotd/repeated_reply.h"

#include <rapidjson/document.h>

#include "rules/explain.h"
#include "storage/json_read.h"

namespace jackpot {
namespace {

using storage::Json;

const Json& listOf(const Json& record, std::string_view key)
{
    static const Json kNone{rapidjson::kArrayType};
    const Json* const found = storage::find(record, key);
    return found ? *found : kNone;
}

std::string text(const Json& json, std::string_view key)
{
    return std::string{storage::textAt(json, key)};
}

template <class T>
T place(const Json& json)
{
    T entry;
    entry.round = storage::numberAt(json, "round");
    entry.seat = storage::numberAt(json, "seat");
    return entry;
}

rules::Tier tierAt(const Json& json)
{
    return rules::tierOfId(storage::textAt(json, "tier")).value_or(rules::Tier::None);
}

// The value from 0 to `last` whose id is `id`.
template <class Enum>
Enum withId(std::string_view id, Enum last)
{
    for (int i = 0; i < static_cast<int>(last); ++i)
        if (rules::idOf(static_cast<Enum>(i)) == id) return static_cast<Enum>(i);
    return last;
}

// The text of rules::arithmeticInWords() at the time of the decision. Fixed and bonus awards have
// none in the record.
std::string arithmetic(const Json& json)
{
    rules::Award award;
    award.amount = storage::moneyAt(json, "amount");
    rules::Arithmetic& how = award.arithmetic;
    const Json* const found = storage::find(json, "arithmetic");
    if (!found) {
        using Kind = rules::Arithmetic::Kind;
        const bool isBonus = storage::textAt(json, "tier") == rules::idOf(rules::Tier::Bonus);
        how = rules::Arithmetic::plain(isBonus ? Kind::Bonus : Kind::Fixed, award.amount);
        return rules::arithmeticInWords(award);
    }
    how.kind = storage::textAt(*found, "takes") == "10 %" ? rules::Arithmetic::Kind::Tenth
                                                          : rules::Arithmetic::Kind::All;
    how.displayed = storage::moneyAt(*found, "displayed");
    how.aggregate = storage::moneyAt(*found, "aggregate");
    how.winners = storage::numberAt(*found, "winners");
    how.share = storage::moneyAt(*found, "share");
    how.guarantee = storage::moneyAt(*found, "guarantee");
    how.payoutUnit = storage::moneyAt(*found, "payout_unit");
    return rules::arithmeticInWords(award);
}

linkproto::Award readAward(const Json& json)
{
    auto award = place<linkproto::Award>(json);
    award.tier = tierAt(json);
    award.amount = storage::moneyAt(json, "amount");
    award.rule = text(json, "rule");
    award.arithmetic = arithmetic(json);
    return award;
}

linkproto::Refund readRefund(const Json& json)
{
    auto refund = place<linkproto::Refund>(json);
    refund.amount = storage::moneyAt(json, "amount");
    return refund;
}

linkproto::Claim readClaim(const Json& json)
{
    auto claim = place<linkproto::Claim>(json);
    claim.tier = tierAt(json);
    claim.state = withId(storage::textAt(json, "state"), rules::ClaimState::Dropped);
    return claim;
}

}  // namespace

linkproto::Decision readDecision(std::string_view payload, const std::string& table)
{
    rapidjson::Document record;
    record.Parse<rapidjson::kParseIterativeFlag>(payload.data(), payload.size());
    if (record.HasParseError()) throw storage::BadJson{"a record is not well-formed JSON"};
    linkproto::Decision decision;
    decision.record = static_cast<std::uint64_t>(storage::numberAt(record, "seq"));
    decision.details = std::make_unique<linkproto::Details>();
    if (const Json* const refused = storage::find(record, "refused"))
        decision.details->refusal = {
            withId(storage::textAt(*refused, "code"), rules::RefusalCode::AwardPaid),
            std::string{storage::textOr(*refused, "rule")},
            {}};
    const auto readMine = [&](std::string_view key, auto& entries, auto read) {
        for (const Json& each : listOf(record, key).GetArray())
            if (storage::textAt(each, "table") == table) entries.push_back(read(each));
    };
    readMine("awards", decision.details->awards, readAward);
    readMine("withdrawn", decision.details->withdrawn, readAward);
    readMine("refunds", decision.details->refunds, readRefund);
    readMine("claims", decision.details->claims, readClaim);
    const Json& pools = storage::arrayAt(record, "pools");
    if (pools.Size() > 0)
        decision.displayedCents = storage::moneyAt(pools[0], "meter").roundedDownToCent().cents();
    return decision;
}

}  // namespace jackpot
