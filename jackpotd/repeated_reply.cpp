#include "jackpotd/repeated_reply.h"

#include <vector>

#include "linkproto/server/server_codec.h"
#include "storage/outcome_json.h"
#include "storage/record.h"

namespace jackpot {
namespace {

void fill(link::v1::Award& message, const storage::RecordedAward& award)
{
    message.set_tier(std::string{idOf(award.tier)});
    message.set_amount_cents(award.amount.cents());
    message.set_rule(award.rule);
    message.set_arithmetic(award.inWords());
}

void fill(link::v1::Refund& message, const storage::RecordedRefund& refund)
{
    message.set_amount_cents(refund.amount.cents());
}

void fill(link::v1::Claim& message, const storage::RecordedClaim& claim)
{
    message.set_tier(std::string{idOf(claim.tier)});
    message.set_state(std::string{idOf(claim.state)});
}

}  // namespace

Result<void> readDecision(std::string_view payload, const std::string& table,
                          link::v1::Decision& decision)
{
    const auto record = storage::readRecord(payload);
    if (!record) return record.error();
    const auto outcome = storage::readOutcome(payload.substr(record->commandEnd));
    if (!outcome) return outcome.error();

    decision.set_record(record->head.seq);
    if (outcome->refusal) {
        decision.mutable_refusal()->set_code(std::string{idOf(outcome->refusal->code)});
        decision.mutable_refusal()->set_rule(outcome->refusal->rule);
    }
    const auto addMine = [&](const auto& list, auto* messages) {
        for (const auto& each : list) {
            if (each.table != table) continue;
            auto& message = *messages->Add();
            message.set_round(each.round);
            message.set_seat(each.seat);
            fill(message, each);
        }
    };
    addMine(outcome->awards, decision.mutable_awards());
    addMine(outcome->withdrawn, decision.mutable_withdrawn());
    addMine(outcome->refunds, decision.mutable_refunds());
    addMine(outcome->claims, decision.mutable_claims());
    linkproto::limitClaims(decision);
    if (!outcome->pools.empty())
        decision.set_displayed_cents(outcome->pools.front().meter.roundedDownToCent().cents());
    return {};
}

}  // namespace jackpot
