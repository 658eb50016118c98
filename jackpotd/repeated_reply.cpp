#include "jackpotd/repeated_reply.h"

#include <rapidjson/document.h>

#include "linkproto/server/server_codec.h"
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

std::int64_t cents(const Json& json) { return storage::moneyAt(json, "amount").cents(); }

template <class Message>
void place(Message& message, const Json& json)
{
    message.set_round(storage::numberAt(json, "round"));
    message.set_seat(storage::numberAt(json, "seat"));
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

void readAward(const Json& json, link::v1::Award& award)
{
    place(award, json);
    award.set_tier(text(json, "tier"));
    award.set_amount_cents(cents(json));
    award.set_rule(text(json, "rule"));
    award.set_arithmetic(arithmetic(json));
}

}  // namespace

void readDecision(std::string_view payload, const std::string& table, link::v1::Decision& decision)
{
    rapidjson::Document record;
    record.Parse<rapidjson::kParseIterativeFlag>(payload.data(), payload.size());
    if (record.HasParseError()) throw storage::BadJson{"a record is not well-formed JSON"};
    decision.set_record(static_cast<std::uint64_t>(storage::numberAt(record, "seq")));
    if (const Json* const refused = storage::find(record, "refused")) {
        decision.mutable_refusal()->set_code(text(*refused, "code"));
        decision.mutable_refusal()->set_rule(storage::textOr(*refused, "rule"));
    }
    const auto isMine = [&](const Json& each) { return storage::textAt(each, "table") == table; };
    for (const Json& each : listOf(record, "awards").GetArray())
        if (isMine(each)) readAward(each, *decision.add_awards());
    for (const Json& each : listOf(record, "withdrawn").GetArray())
        if (isMine(each)) readAward(each, *decision.add_withdrawn());
    for (const Json& each : listOf(record, "refunds").GetArray()) {
        if (!isMine(each)) continue;
        link::v1::Refund& refund = *decision.add_refunds();
        place(refund, each);
        refund.set_amount_cents(cents(each));
    }
    for (const Json& each : listOf(record, "claims").GetArray()) {
        if (!isMine(each)) continue;
        link::v1::Claim& claim = *decision.add_claims();
        place(claim, each);
        claim.set_tier(text(each, "tier"));
        claim.set_state(text(each, "state"));
    }
    linkproto::limitClaims(decision);
    const Json& pools = storage::arrayAt(record, "pools");
    if (pools.Size() > 0)
        decision.set_displayed_cents(
            storage::moneyAt(pools[0], "meter").roundedDownToCent().cents());
}

}  // namespace jackpot
