#include "console/desk/desk_json.h"

#include "base/iso_time.h"
#include "rules/explain.h"
#include "storage/command_json.h"

namespace jackpot::console {

using storage::JsonText;

namespace {

void momentFields(JsonText& json, std::uint64_t seq, rules::TimeMs timeMs)
{
    json.numberField("record", static_cast<std::int64_t>(seq));
    json.textField("utc", isoTime(timeMs));
}

void utcField(JsonText& json, std::string_view name, std::optional<rules::TimeMs> at)
{
    if (at) json.textField(name, isoTime(*at));
}

}  // namespace

void writePool(JsonText& json, const rules::State& state, const rules::Pool& pool)
{
    json.textField("pool", pool.config.id);
    json.textField("game", idOf(pool.config.game));
    json.boolField("suspended", pool.suspended);
    json.moneyField("displayed", pool.displayed());
    json.moneyField("meter", pool.meter);
    json.moneyField("reserve", pool.reserve);
    json.moneyField("wager", pool.config.wager);
    json.key("parameters");
    storage::writeParameters(json, parametersOf(pool.config));
    if (pool.next) {
        json.key("next_parameters");
        storage::writeParameters(json, *pool.next);
        json.textField("next_in_words",
                       rules::changeInWords(parametersOf(pool.config), *pool.next));
    }
    json.objectsField("confirmations", pool.confirmations, [&](const rules::Confirmation& each) {
        json.textField("table", state.tables[each.table].config.id);
        json.numberField("round", each.round);
        json.textField("state", each.hold == rules::Hold::None ? "pending" : "held");
        if (each.hold != rules::Hold::None)
            json.textField("held_for", each.hold == rules::Hold::Tied
                                           ? "another table's button within the window"
                                           : "a table that was offline with a claim");
        json.textField("confirmed_utc", isoTime(each.arrivedMs));
        json.textField("pressed_utc", isoTime(each.pressedMs));
    });
    json.key("tables");
    json.beginArray();
    for (const rules::Table& table : state.tables)
        if (table.config.pool == pool.config.id) json.text(table.config.id);
    json.endArray();
    if (pool.lastWin) {
        json.key("last_win");
        json.beginObject();
        json.moneyField("amount", pool.lastWin->amount);
        json.textField("tier", idOf(pool.lastWin->tier));
        json.textField("table", state.tables[pool.lastWin->table].config.id);
        json.textField("utc", isoTime(pool.lastWin->atMs));
        json.endObject();
    }
}

void writeTable(JsonText& json, const rules::State& state, const rules::Table& table)
{
    json.textField("table", table.config.id);
    json.textField("pool", state.pools[table.pool].config.id);
    json.numberField("seats", table.config.seats);
    json.boolField("suspended", table.suspended);
    json.boolField("offline", table.offline);
    if (table.current.opened) {
        const rules::Round& round = table.current;
        json.key("round");
        json.beginObject();
        json.numberField("round", round.number);
        json.boolField("result_in", round.resultIn);
        json.boolField("voided", round.voided);
        json.boolField("confirmed", round.confirmed);
        json.boolField("settled", round.settled);
        json.key("wagers");
        json.beginArray();
        for (int seat = 1; seat <= rules::kMaxSeats; ++seat)
            if (round.seat(seat).wagered) json.number(seat);
        json.endArray();
        json.endObject();
    }
    const auto due = [&](const rules::DueAward& each) {
        json.beginObject();
        json.numberField("round", each.round);
        json.numberField("seat", each.seat);
        json.textField("tier", idOf(each.tier));
        json.moneyField("amount", each.amount);
        json.textField("state", each.status == rules::DueAward::Status::Due    ? "due"
                                : each.status == rules::DueAward::Status::Paid ? "paid"
                                                                               : "withheld");
        json.endObject();
    };
    json.key("due");
    json.beginArray();
    for (const rules::DueAward& each : table.current.due) due(each);
    for (const rules::DueAward& each : table.jackpotsDue) due(each);
    json.endArray();
}

void writeClaim(JsonText& json, const ClaimRow& claim)
{
    json.numberField("id", claim.id);
    json.textField("pool", claim.pool);
    json.textField("table", claim.table);
    json.numberField("round", claim.round);
    json.numberField("seat", claim.seat);
    json.textField("tier", claim.tier);
    json.textField("state", claim.state);
    json.textField("board", claim.board);
    json.textField("cards", claim.cards);
    json.numberField("claimed_record", static_cast<std::int64_t>(claim.claimedSeq));
    json.textField("claimed_utc", isoTime(claim.claimedMs));
    utcField(json, "confirmed_utc", claim.confirmedMs);
    utcField(json, "pressed_utc", claim.pressedMs);
    json.numberField("changed_record", static_cast<std::int64_t>(claim.changedSeq));
}

void writeAward(JsonText& json, const AwardRow& award)
{
    json.numberField("record", static_cast<std::int64_t>(award.seq));
    json.numberField("place", award.place);
    json.textField("table", award.table);
    json.numberField("round", award.round);
    json.numberField("seat", award.seat);
    json.textField("tier", award.tier);
    json.textField("form", award.form);
    json.moneyField("amount", award.amount);
    json.textField("rule", award.rule);
    json.textField("arithmetic", award.arithmetic);
    json.textField("state", award.state);
    if (award.stateSeq)
        json.numberField("state_record", static_cast<std::int64_t>(*award.stateSeq));
    if (!award.paid) return;
    json.key("payment");
    json.beginObject();
    json.moneyField("paid", *award.paid);
    json.moneyField("difference", *award.paid - award.amount);
    json.textField("how", award.how);
    json.textField("by", award.by);
    json.endObject();
}

void writeAward(JsonText& json, const rules::State& state, const rules::Award& award,
                std::size_t place)
{
    json.numberField("place", static_cast<std::int64_t>(place));
    json.textField("table", state.tables[award.table].config.id);
    json.numberField("round", award.round);
    json.numberField("seat", award.seat);
    json.textField("tier", idOf(award.tier));
    json.moneyField("amount", award.amount);
    json.textField("rule", award.rule);
    json.textField("arithmetic", rules::arithmeticInWords(award));
}

void writeRecord(JsonText& json, const RecordRow& record)
{
    momentFields(json, record.seq, record.timeMs);
    json.textField("kind", record.kind);
    optionalText(json, "pool", record.pool);
    optionalText(json, "table", record.table);
    timeField(json, "round", record.round);
    optionalText(json, "who", record.who);
    json.boolField("refused", record.refused);
}

void writeNotice(JsonText& json, const NoticeRow& notice)
{
    json.textField("notice", notice.id);
    momentFields(json, notice.seq, notice.timeMs);
    json.textField("whom", notice.whom);
    json.textField("rule", notice.rule);
    json.textField("text", notice.text);
    optionalText(json, "delivery", notice.delivery);
    json.boolField("acknowledged", notice.acknowledgedMs.has_value());
    optionalText(json, "acknowledged_by", notice.acknowledgedBy);
    utcField(json, "acknowledged_utc", notice.acknowledgedMs);
    optionalText(json, "remark", notice.remark);
}

std::string_view stateOf(const ProposalRow& proposal, rules::TimeMs now)
{
    if (proposal.state == "open" && now >= proposal.expiresMs) return "expired";
    return proposal.state;
}

void writeProposal(JsonText& json, const ProposalRow& proposal, rules::TimeMs now)
{
    json.numberField("proposal", static_cast<std::int64_t>(proposal.id));
    json.textField("state", stateOf(proposal, now));
    json.textField("made_utc", isoTime(proposal.madeMs));
    json.textField("expires_utc", isoTime(proposal.expiresMs));
    json.textField("by", proposal.by);
    json.textField("reason", proposal.reason);
    json.textField("words", proposal.words);
    json.textField("proposed", proposal.proposed);
    json.textField("sha256", proposal.sha256);
    optionalText(json, "closed_by", proposal.closedBy);
    optionalText(json, "remark", proposal.remark);
    if (proposal.closedSeq)
        json.numberField("closed_record", static_cast<std::int64_t>(*proposal.closedSeq));
    if (proposal.outcomeSeq)
        json.numberField("outcome_record", static_cast<std::int64_t>(*proposal.outcomeSeq));
}

void writeOrder(JsonText& json, const RulingOrder& order)
{
    json.key("order");
    json.beginArray();
    for (const auto& group : order) {
        json.beginArray();
        for (const rules::RoundRef& each : group) {
            json.beginObject();
            json.textField("table", each.table);
            json.numberField("round", each.round);
            json.endObject();
        }
        json.endArray();
    }
    json.endArray();
}

std::string describeOrder(const RulingOrder& order)
{
    std::string words;
    for (const auto& group : order) {
        if (!words.empty()) words += ", then ";
        for (const rules::RoundRef& each : group)
            words += (&each == &group.front() ? "" : " together with ") + each.table + " round " +
                     std::to_string(each.round);
    }
    return words;
}

Reply refusalReply(const rules::Refusal& refusal)
{
    const bool unknown = refusal.code == rules::RefusalCode::UnknownTable ||
                         refusal.code == rules::RefusalCode::UnknownPool;
    return errorReply(
        unknown ? 404 : 409, idOf(refusal.code),
        refusal.detail + (refusal.rule.empty() ? "" : " (" + std::string{refusal.rule} + ")"));
}

}  // namespace jackpot::console
