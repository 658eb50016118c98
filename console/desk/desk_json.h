// Replies of the desk as JSON. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "console/desk/preview.h"
#include "console/people/access.h"
#include "console/people/json_reply.h"
#include "console/search/search_index.h"
#include "rules/state.h"
#include "storage/json_text.h"

namespace jackpot::console {

void writePool(storage::JsonText& json, const rules::State& state, const rules::Pool& pool);
void writeTable(storage::JsonText& json, const rules::State& state, const rules::Table& table);
void writeClaim(storage::JsonText& json, const ClaimRow& claim);
void writeAward(storage::JsonText& json, const AwardRow& award);
// An award of an outcome that is not yet in the journal; `place` is its place in the order of
// payment.
void writeAward(storage::JsonText& json, const rules::State& state, const rules::Award& award,
                std::size_t place);
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
inline void optionalText(storage::JsonText& json, std::string_view name, std::string_view text)
{
    if (!text.empty()) json.textField(name, text);
}

// {"error":{...}} with the code of the rules' refusal.
Reply refusalReply(const rules::Refusal& refusal);

// The recorded state, or "expired" if the proposal is open and its time is over.
std::string_view stateOf(const ProposalRow& proposal, rules::TimeMs now);

}  // namespace jackpot::console
