// What the desk answers, as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "console/desk/preview.h"
#include "console/people/access.h"
#include "console/search/search_index.h"
#include "rules/state.h"
#include "storage/json_text.h"

namespace jackpot::console {

void writePool(storage::JsonText& json, const rules::State& state, const rules::Pool& pool);
void writeTable(storage::JsonText& json, const rules::State& state, const rules::Table& table);
void writeClaim(storage::JsonText& json, const ClaimRow& claim);
void writeAward(storage::JsonText& json, const AwardRow& award);
// As an outcome has it, not yet paid.
void writeAward(storage::JsonText& json, const rules::State& state, const rules::Award& award,
                std::size_t place);
void writeRecord(storage::JsonText& json, const RecordRow& record);
void writeNotice(storage::JsonText& json, const NoticeRow& notice);
void writeProposal(storage::JsonText& json, const ProposalRow& proposal, rules::TimeMs now);
void writeOrder(storage::JsonText& json, const RulingOrder& order);
std::string orderInWords(const RulingOrder& order);

inline void timeField(storage::JsonText& json, std::string_view name,
                      std::optional<rules::TimeMs> at)
{
    if (at) json.numberField(name, *at);
}
inline void optionalText(storage::JsonText& json, std::string_view name, std::string_view text)
{
    if (!text.empty()) json.textField(name, text);
}

// A reply of one object, whose fields `write` writes.
template <class Write>
Reply replyWith(int status, Write&& write)
{
    Reply reply;
    reply.status = status;
    storage::JsonText json{reply.body};
    json.beginObject();
    write(json);
    json.endObject();
    return reply;
}

// {"error":{...}} of the rules, with their own code.
Reply refusalOf(const rules::Refusal& refusal);

// An open one whose time is over.
std::string_view stateOf(const ProposalRow& proposal, rules::TimeMs now);

}  // namespace jackpot::console
