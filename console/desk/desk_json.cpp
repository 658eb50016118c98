#include "console/desk/desk_json.h"

#include "base/iso_time.h"
#include "rules/explain.h"
#include "rules/holds.h"
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
    json.objectsField("wins", pool.wins, [&](const rules::Win& each) {
        json.textField("table", state.tables[each.table].config.id);
        json.numberField("round", each.round);
        const bool held = each.hold != 0;
        json.textField("state", held ? "held" : each.due ? "due" : "locked");
        json.textField("confirmed_utc", isoTime(each.arrivedMs));
        json.textField("pressed_utc", isoTime(each.pressedMs));
        if (!held && !each.due)
            json.textField("due_utc", isoTime(each.arrivedMs + pool.config.waitMs()));
        if (!held) return;
        json.numberField("hold", static_cast<std::int64_t>(each.hold));
        writeReasons(json, pool, each.hold);
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

void writeReasons(JsonText& json, const rules::Pool& pool, std::uint64_t hold)
{
    json.key("held_for");
    json.beginArray();
    for (const rules::HoldReason each : rules::reasonsOf(pool, hold)) json.text(idOf(each));
    json.endArray();
}

namespace {

void writeRound(JsonText& json, const rules::Round& round)
{
    json.numberField("round", round.number);
    json.boolField("open", round.isOpen());
    json.boolField("result_in", round.resultIn);
    json.boolField("voided", round.voided);
    json.boolField("closed", round.closed);
    json.boolField("confirmed", round.confirmed);
    json.boolField("final", round.final);
    json.key("wagers");
    json.beginArray();
    for (int number = 1; number <= rules::kMaxSeats; ++number) {
        const rules::Seat& seat = round.seat(number);
        if (!seat.wagered) continue;
        json.beginObject();
        json.numberField("seat", number);
        optionalText(json, "player", seat.playerCard);
        if (seat.tier != rules::Tier::None) json.textField("tier", idOf(seat.tier));
        json.boolField("claims", seat.claims);
        json.endObject();
    }
    json.endArray();
}

std::string_view stateOf(const rules::AwardRecord& award)
{
    using enum rules::AwardRecord::State;
    if (award.withheld) return "withheld";
    return award.state == Locked ? "locked" : award.state == Due ? "due" : "withdrawn";
}

// Those of the given rounds, and jackpots that people still have to pay.
std::vector<rules::AwardRecord> awardsToShow(const rules::Table& table)
{
    std::vector<rules::AwardRecord> shown;
    for (const auto* list : {&table.awards, &table.jackpots})
        for (const rules::AwardRecord& each : *list) {
            const bool unpaid = list == &table.jackpots && each.payments == 0;
            if (each.state != rules::AwardRecord::State::Withdrawn &&
                (unpaid || table.findRound(each.round) != nullptr))
                shown.push_back(each);
        }
    return shown;
}

void writePayment(JsonText& json, const PaymentRow& payment)
{
    momentFields(json, payment.seq, payment.timeMs);
    json.moneyField("paid", payment.paid);
    json.moneyField("due", payment.due);
    json.moneyField("sum", payment.sum);
    json.moneyField("difference", payment.sum - payment.due);
    json.boolField("rectification", payment.rectification);
    json.textField("how", payment.how);
    textsField(json, "by", payment.by);
}

template <class Row>
std::vector<Row> rowsOf(const std::vector<Row>& rows, std::int64_t seat, std::string_view tier)
{
    std::vector<Row> found;
    for (const Row& each : rows)
        if (each.seat == seat && each.tier == tier) found.push_back(each);
    return found;
}

void writeAward(JsonText& json, const AwardRow& award, const RoundRows& rows)
{
    json.textField("table", award.table);
    json.numberField("round", award.round);
    json.numberField("seat", award.seat);
    json.textField("tier", award.tier);
    json.textField("form", award.form);
    optionalText(json, "player", award.player);
    json.moneyField("amount", award.amount);
    json.textField("rule", award.rule);
    json.textField("arithmetic", award.arithmetic);
    json.numberField("record", static_cast<std::int64_t>(award.seq));
    json.numberField("place", award.place);
    json.textField("state", award.state);
    if (award.stateSeq) {
        json.numberField("state_record", static_cast<std::int64_t>(*award.stateSeq));
        json.textField("state_reason", award.stateReason);
        textsField(json, "state_by", award.stateBy);
    }
    json.moneyField("due", award.due());
    json.moneyField("paid", award.paid);
    if (award.payments > 0) json.moneyField("difference", award.paid - award.due());
    json.objectsField("payments", rowsOf(rows.payments, award.seat, award.tier),
                      [&](const PaymentRow& each) { writePayment(json, each); });
    json.objectsField("earlier", rowsOf(rows.earlierAmounts, award.seat, award.tier),
                      [&](const EarlierAmountRow& each) {
                          json.numberField("record", static_cast<std::int64_t>(each.seq));
                          json.moneyField("amount", each.amount);
                          json.numberField("withdrawn_record",
                                           static_cast<std::int64_t>(each.withdrawnSeq));
                          json.textField("withdrawn_utc", isoTime(each.withdrawnMs));
                      });
}

void writePaymentsWithoutAward(JsonText& json, const std::vector<PaymentRow>& payments)
{
    json.key("payments_without_award");
    json.beginArray();
    for (std::int64_t seat = 1; seat <= rules::kMaxSeats; ++seat) {
        const auto ofSeat = rowsOf(payments, seat, idOf(rules::Tier::None));
        if (ofSeat.empty()) continue;
        json.beginObject();
        json.numberField("seat", seat);
        json.moneyField("due", {});
        json.moneyField("paid", ofSeat.back().sum);
        json.moneyField("difference", ofSeat.back().sum);
        json.objectsField("payments", ofSeat,
                          [&](const PaymentRow& each) { writePayment(json, each); });
        json.endObject();
    }
    json.endArray();
}

template <class AnyAward>
void writeAwardKey(JsonText& json, const rules::State& state, const AnyAward& award)
{
    json.textField("table", state.tables[award.table].config.id);
    json.numberField("round", award.round);
    json.numberField("seat", award.seat);
    json.textField("tier", idOf(award.tier));
}

void writeAwards(JsonText& json, const rules::State& state, std::string_view name,
                 const std::vector<rules::Award>& awards)
{
    std::int64_t place = 0;
    json.objectsField(name, awards, [&](const rules::Award& each) {
        json.numberField("place", ++place);
        writeAwardKey(json, state, each);
        optionalText(json, "player", each.playerCard);
        json.moneyField("amount", each.amount);
        json.textField("rule", each.rule);
        json.textField("arithmetic", rules::arithmeticInWords(each));
    });
}

}  // namespace

void writeTable(JsonText& json, const rules::State& state, const rules::Table& table,
                const std::optional<SuspensionRow>& suspension)
{
    json.textField("table", table.config.id);
    json.textField("pool", state.pools[table.pool].config.id);
    json.numberField("seats", table.config.seats);
    json.boolField("suspended", table.suspended.has_value());
    if (table.suspended && suspension) {
        json.key("suspension");
        json.beginObject();
        json.textField("ground", suspension->ground);
        json.textField("from", suspension->from);
        optionalText(json, "reason", suspension->reason);
        textsField(json, "by", suspension->by);
        momentFields(json, suspension->seq, suspension->timeMs);
        json.endObject();
    }
    json.boolField("offline", table.offline);
    if (table.current.opened) {
        json.key("round");
        json.beginObject();
        writeRound(json, table.current);
        json.endObject();
    }
    json.objectsField("earlier", table.earlier,
                      [&](const rules::Round& each) { writeRound(json, each); });
    json.objectsField("awards", awardsToShow(table), [&](const rules::AwardRecord& each) {
        json.numberField("round", each.round);
        json.numberField("seat", each.seat);
        json.textField("tier", idOf(each.tier));
        json.moneyField("amount", each.amount);
        json.textField("state", stateOf(each));
        json.moneyField("paid", each.paid);
        json.numberField("payments", each.payments);
    });
}

void writeClaim(JsonText& json, const ClaimRow& claim, const rules::State* state)
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
    std::string player = claim.award ? claim.award->player : std::string{};
    const auto index = state ? state->findTable(claim.table) : std::nullopt;
    if (index) {
        const rules::Table& table = state->tables[*index];
        const rules::Round* const round = table.findRound(claim.round);
        if (player.empty() && round) player = round->seat(static_cast<int>(claim.seat)).playerCard;
        const rules::Pool& pool = state->pools[table.pool];
        for (const rules::Win& win : pool.wins)
            if (win.hold != 0 && win.table == *index && win.round == claim.round)
                writeReasons(json, pool, win.hold);
    }
    optionalText(json, "player", player);
    json.numberField("claimed_record", static_cast<std::int64_t>(claim.claimedSeq));
    json.textField("claimed_utc", isoTime(claim.claimedMs));
    utcField(json, "confirmed_utc", claim.confirmedMs);
    utcField(json, "pressed_utc", claim.pressedMs);
    json.numberField("changed_record", static_cast<std::int64_t>(claim.changedSeq));
    if (!claim.award) return;
    json.moneyField("amount", claim.award->amount);
    json.textField("award_state", claim.award->state);
    json.moneyField("paid", claim.award->paid);
    if (claim.award->payments > 0)
        json.moneyField("difference", claim.award->paid - claim.award->due());
}

void writeRound(JsonText& json, const RoundRows& rows, const rules::State* state)
{
    json.objectsField("claims", rows.claims,
                      [&](const ClaimRow& each) { writeClaim(json, each, state); });
    json.objectsField("awards", rows.awards,
                      [&](const AwardRow& each) { writeAward(json, each, rows); });
    writePaymentsWithoutAward(json, rows.payments);
    json.objectsField("refunds", rows.refunds, [&](const RefundRow& each) {
        momentFields(json, each.seq, each.timeMs);
        json.numberField("seat", each.seat);
        json.moneyField("amount", each.amount);
    });
}

void writeOutcomeAwards(JsonText& json, const rules::State& state, const rules::Outcome& outcome)
{
    writeAwards(json, state, "awards", outcome.awards);
    json.objectsField("withdrawn", outcome.withdrawn, [&](const rules::Withdrawal& each) {
        writeAwardKey(json, state, each);
        json.moneyField("amount", each.amount);
    });
    writeAwards(json, state, "locked", outcome.locked);
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
    json.textField("kind", notice.kind);
    textsField(json, "to", notice.to);
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
