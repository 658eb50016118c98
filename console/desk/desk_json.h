// Replies of the desk as JSON. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "console/desk/preview.h"
#include "console/people/access.h"
#include "console/people/json_reply.h"
#include "console/search/search_index.h"
#include "rules/state.h"
#include "storage/json_text.h"

namespace jackpot::console {

void writePool(storage::JsonText& json, const rules::State& state, const rules::Pool& pool);
void writeTable(storage::JsonText& json, const rules::State& state, const rules::Table& table,
                const std::optional<SuspensionRow>& suspension);
// `state` may be null: then the claim has no reasons of a hold, and no player before the button.
void writeClaim(storage::JsonText& json, const ClaimRow& claim, const rules::State* state);

// All rows about one round.
struct RoundRows {
    std::vector<ClaimRow> claims;
    std::vector<AwardRow> awards;
    std::vector<PaymentRow> payments;
    std::vector<EarlierAmountRow> earlierAmounts;
    std::vector<RefundRow> refunds;

    [[nodiscard]] bool empty() const
    {
        return claims.empty() && awards.empty() && payments.empty() && refunds.empty();
    }
};
void writeRound(storage::JsonText& json, const RoundRows& rows, const rules::State* state);

// "awards", "withdrawn" and "locked" of an outcome, in the order of payment.
void writeOutcomeAwards(storage::JsonText& json, const rules::State& state,
                        const rules::Outcome& outcome);
void writeReasons(storage::JsonText& json, const rules::Pool& pool, std::uint64_t hold);
void writeRecord(storage::JsonText& json, const RecordRow& record);
void writeNotice(storage::JsonText& json, const NoticeRow& notice);
void writeProposal(storage::JsonText& json, const ProposalRow& proposal, rules::TimeMs now);
void writeOrder(storage::JsonText& json, const RulingOrder& order);
std::string describeOrder(const RulingOrder& order);

inline void timeField(storage::JsonText& json, std::string_view name,
                      std::optional<rules::TimeMs> at)
{
    if (at) json.numberField(name, *at);
}
inline void textsField(storage::JsonText& json, std::string_view name,
                       const std::vector<std::string>& texts)
{
    json.key(name);
    json.beginArray();
    for (const std::string& each : texts) json.text(each);
    json.endArray();
}
inline void optionalText(storage::JsonText& json, std::string_view name, std::string_view text)
{
    if (!text.empty()) json.textField(name, text);
}

// {"error":{...}} with the code of the rules' refusal.
Reply refusalReply(const rules::Refusal& refusal);

// The recorded state, or "expired" if the proposal is open and its time is over.
std::string_view stateOf(const ProposalRow& proposal, rules::TimeMs now);

}  // namespace jackpot::console
