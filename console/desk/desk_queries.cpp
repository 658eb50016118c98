// What the desk shows.
#include <rapidjson/document.h>

#include <chrono>

#include "audit/describe.h"
#include "audit/journal_view.h"
#include "audit/proof_builder.h"
#include "audit/report.h"
#include "base/iso_time.h"
#include "console/desk/desk_api.h"
#include "console/desk/desk_json.h"
#include "console/desk/desk_requests.h"
#include "console/desk/request_parameters.h"

namespace jackpot::console {
namespace {

using audit::JournalView;
using storage::JsonText;

constexpr std::size_t kMaxWordsBytes = 8U << 20U;
constexpr std::size_t kMaxReportBytes = 32U << 20U;

const rules::Pool& poolIn(const rules::State& state, const std::string& id)
{
    const auto index = state.findPool(id);
    if (!index) answer(404, "unknown_pool", "there is no such pool");
    return state.pools[*index];
}

Period periodIn(const Request& request)
{
    const auto text = [&](const char* key) -> std::optional<std::string> {
        const std::string value = textOf(request, key);
        return value.empty() ? std::nullopt : std::optional{value};
    };
    const auto period =
        periodOf({text("from"), text("to"), text("month"), text("timezone-offset")});
    if (!period) answer(400, "bad_query", period.error().message);
    return *period;
}

template <class Row, class Write>
void writeRows(JsonText& json, std::string_view name, const std::vector<Row>& rows,
               std::string_view cursor, std::int64_t last, std::size_t limit, Write&& write)
{
    json.objectsField(name, rows, write);
    if (rows.size() == limit) json.numberField(cursor, last);
}

void writePreview(JsonText& json, const rules::State& state, const std::string& pool,
                  const RulingOrder& order, const Preview& tried)
{
    const rules::Pool& before = poolIn(state, pool);
    const rules::Pool& after = poolIn(tried.after, pool);
    writeOrder(json, order);
    json.textField("words", orderInWords(order));
    std::size_t place = 0;
    json.objectsField("awards", tried.outcome.awards,
                      [&](const rules::Award& each) { writeAward(json, state, each, ++place); });
    json.moneyField("meter_after", after.meter);
    json.moneyField("displayed_after", after.displayed());
    json.moneyField("reserve_after", after.reserve);
    json.textField("token", rulingToken(state, before, tried.outcome));
}

}  // namespace

Reply Desk::poolReply(const std::string& id)
{
    const State state = orUnavailable(controller_.look());
    const rules::Pool& pool = poolIn(*state, id);
    return replyWith(200, [&](JsonText& json) { writePool(json, *state, pool); });
}

Reply Desk::tableReply(const std::string& id)
{
    const State state = orUnavailable(controller_.look());
    const auto index = state->findTable(id);
    if (!index) answer(404, "unknown_table", "there is no such table");
    return replyWith(200, [&](JsonText& json) { writeTable(json, *state, state->tables[*index]); });
}

Reply Desk::pools(const Request& request)
{
    allowOnly(request, {});
    const State state = orUnavailable(controller_.look());
    return replyWith(200, [&](JsonText& json) {
        json.objectsField("pools", state->pools,
                          [&](const rules::Pool& each) { writePool(json, *state, each); });
    });
}

Reply Desk::pool(const Request& request)
{
    allowOnly(request, {});
    return poolReply(nameIn(request, "pool"));
}

Reply Desk::tables(const Request& request)
{
    allowOnly(request, {});
    const State state = orUnavailable(controller_.look());
    return replyWith(200, [&](JsonText& json) {
        json.objectsField("tables", state->tables,
                          [&](const rules::Table& each) { writeTable(json, *state, each); });
    });
}

Reply Desk::table(const Request& request)
{
    allowOnly(request, {});
    return tableReply(nameIn(request, "table"));
}

Reply Desk::history(const Request& request)
{
    allowOnly(request, {"from", "to", "points"});
    AmountQuery query;
    query.pool = nameIn(request, "pool");
    (void)poolIn(*orUnavailable(controller_.look()), query.pool);
    const Period period = periodIn(request);
    if (period.hasFrom) query.fromMs = period.fromMs;
    if (period.hasTo) query.toMs = period.toMs - 1;
    if (const auto points = numberOf(request, "points")) {
        if (*points < 2 || *points > static_cast<std::int64_t>(kMaxRows))
            answer(400, "bad_query", "points is a number from 2 to " + std::to_string(kMaxRows));
        query.points = static_cast<std::size_t>(*points);
    }
    const auto rows = book_.amounts(query);
    return replyWith(200, [&](JsonText& json) {
        json.textField("pool", query.pool);
        json.objectsField("amounts", rows, [&](const AmountRow& each) {
            json.numberField("record", static_cast<std::int64_t>(each.seq));
            json.textField("utc", isoTime(each.timeMs));
            if (each.before) json.moneyField("before", *each.before);
            json.moneyField("displayed", each.displayed);
        });
    });
}

Reply Desk::meters(const Request& request)
{
    allowOnly(request, {});
    return {200, controller_.meters()};
}

// --- claims and rulings
// ----------------------------------------------------------------------------

Reply Desk::claims(const Request& request)
{
    allowOnly(request, {"state", "pool", "table", "before", "limit"});
    ClaimQuery query{textOf(request, "state"), textOf(request, "pool"), textOf(request, "table"),
                     numberOf(request, "before"), limitOf(request)};
    const auto rows = book_.claims(query);
    return replyWith(200, [&](JsonText& json) {
        writeRows(json, "claims", rows, "before", rows.empty() ? 0 : rows.back().id, query.limit,
                  [&](const ClaimRow& each) { writeClaim(json, each); });
    });
}

Reply Desk::claimReply(const std::string& table, std::int64_t round, bool justPaid)
{
    const auto claims = book_.claimsOf(table, round);
    const auto awards = book_.awardsOf(table, round);
    if (claims.empty() && awards.empty() && !justPaid)
        answer(404, "no_such_claim", "nothing was won in this round");
    return replyWith(200, [&](JsonText& json) {
        json.textField("table", table);
        json.numberField("round", round);
        json.objectsField("claims", claims, [&](const ClaimRow& each) { writeClaim(json, each); });
        json.objectsField("awards", awards, [&](const AwardRow& each) { writeAward(json, each); });
    });
}

Reply Desk::claim(const Request& request)
{
    allowOnly(request, {});
    return claimReply(nameIn(request, "table"), numberIn(request, "round"), false);
}

Reply Desk::rulings(const Request& request)
{
    allowOnly(request, {});
    const std::string id = nameIn(request, "pool");
    const State state = orUnavailable(controller_.look());
    const auto held = heldRounds(*state, poolIn(*state, id));
    return replyWith(200, [&](JsonText& json) {
        json.textField("pool", id);
        json.objectsField("held", held, [&](const rules::RoundRef& each) {
            json.textField("table", each.table);
            json.numberField("round", each.round);
        });
        json.boolField("all_rulings", held.size() <= kAllRulingsUpTo);
        json.key("previews");
        json.beginArray();
        for (const RulingOrder& order : possibleRulings(held)) {
            const Preview tried =
                previewCommand(*state, rules::RuleOnClaims{id, order, request.person.name});
            if (tried.outcome.refusal) continue;  // two rounds of one table are not simultaneous
            json.beginObject();
            writePreview(json, *state, id, order, tried);
            json.endObject();
        }
        json.endArray();
    });
}

Reply Desk::previewRuling(const Request& request)
{
    const std::string id = nameIn(request, "pool");
    const RulingOrder order = orBadBody(readRulingOrder(request.body));
    const State state = orUnavailable(controller_.look());
    const Preview tried =
        previewCommand(*state, rules::RuleOnClaims{id, order, request.person.name});
    if (tried.outcome.refusal) return refusalOf(*tried.outcome.refusal);
    return replyWith(200, [&](JsonText& json) { writePreview(json, *state, id, order, tried); });
}

// --- the journal
// -----------------------------------------------------------------------------------

Reply Desk::records(const Request& request)
{
    allowOnly(request,
              {"kind", "pool", "table", "round", "who", "from", "to", "after", "before", "limit"});
    const Period period = periodIn(request);
    const auto seq = [&](const char* key) -> std::optional<std::uint64_t> {
        const auto number = numberOf(request, key);
        return number ? std::optional{static_cast<std::uint64_t>(*number)} : std::nullopt;
    };
    RecordQuery query;
    query.kind = textOf(request, "kind");
    query.pool = textOf(request, "pool");
    query.table = textOf(request, "table");
    query.who = textOf(request, "who");
    query.round = numberOf(request, "round");
    if (period.hasFrom) query.fromMs = period.fromMs;
    if (period.hasTo) query.toMs = period.toMs;
    query.after = seq("after");
    query.before = seq("before");
    query.limit = limitOf(request);
    const auto rows = book_.records(query);
    return replyWith(200, [&](JsonText& json) {
        writeRows(json, "records", rows, query.after ? "after" : "before",
                  rows.empty() ? 0 : static_cast<std::int64_t>(rows.back().seq), query.limit,
                  [&](const RecordRow& each) { writeRecord(json, each); });
    });
}

Reply Desk::record(const Request& request)
{
    allowOnly(request, {});
    const auto seq = static_cast<std::uint64_t>(numberIn(request, "seq"));
    JournalView journal{{settings_.journal}};
    if (seq >= journal.end() || seq < journal.first())
        answer(404, "not_found", "there is no such record");
    const std::string payload = journal.payload(seq);
    audit::Payload parsed;
    parsed.parse(seq, payload);
    audit::TextOutput words{kMaxWordsBytes};
    printRecord(parsed, words);
    return replyWith(200, [&](JsonText& json) {
        json.numberField("record", static_cast<std::int64_t>(seq));
        json.textField("utc", isoTime(parsed.timeMs()));
        json.textField("kind", parsed.kind());
        json.textField("payload", payload);
        json.textField("words", words.take());
    });
}

Reply Desk::proof(const Request& request)
{
    allowOnly(request, {});
    const auto seq = static_cast<std::uint64_t>(numberIn(request, "seq"));
    JournalView journal{{settings_.journal}};
    if (seq >= journal.end() || seq < journal.first())
        answer(404, "not_found", "there is no such record");
    Reply reply{200, proofText(journal, seq), "text/plain; charset=utf-8", {}};
    reply.headers["Content-Disposition"] =
        "attachment; filename=\"record-" + std::to_string(seq) + ".tlog-proof\"";
    return reply;
}

Reply Desk::checkpoint(const Request& request)
{
    allowOnly(request, {});
    const JournalView journal{{settings_.journal}, 1};
    return {200, journal.noteText(), "text/plain; charset=utf-8", {}};
}

Reply Desk::report(const Request& request)
{
    allowOnly(request, {"pool", "from", "to", "month", "timezone-offset", "last"});
    const std::string file = nameIn(request, "report");
    const std::size_t dot = std::min(file.find('.'), file.size());
    const std::string form = file.substr(dot);
    const audit::Report make = audit::reportOfName(std::string_view{file}.substr(0, dot));
    if (make == nullptr || (form != ".txt" && form != ".csv" && form != ".json"))
        answer(404, "not_found",
               "there is no such report: wins, reconciliation or differences, as .txt, .csv or "
               ".json");
    audit::ReportRequest asked;
    asked.period = periodIn(request);
    asked.pool = textOf(request, "pool");
    const auto last = numberOf(request, "last");
    if (last && (*last < 1 || *last > static_cast<std::int64_t>(audit::kMaxLast)))
        answer(400, "bad_query", "last is out of range");
    if (last) asked.last = static_cast<std::uint64_t>(*last);
    asked.form = form == ".txt"   ? audit::ReportForm::Text
                 : form == ".csv" ? audit::ReportForm::Csv
                                  : audit::ReportForm::Object;

    // One at a time: each reads much of the journal.
    const std::unique_lock alone{reporting_, std::try_to_lock};
    if (!alone) unavailable("another report is being made: try again");
    const auto until = std::chrono::steady_clock::now() + settings_.reportTime;
    JournalView journal{
        {settings_.journal}, JournalView::kAllFiles, [this, until](std::uint64_t, std::uint64_t) {
            if (ended_) unavailable("the daemon is shutting down");
            if (std::chrono::steady_clock::now() > until)
                unavailable(
                    "the report takes too long: ask for a shorter period "
                    "or use jackpot-audit");
        }};
    if (!asked.pool.empty() && !orUnavailable(controller_.look())->findPool(asked.pool))
        answer(404, "unknown_pool", "there is no such pool");
    audit::TextOutput out{kMaxReportBytes};
    const int status = make(journal, asked, askedPools(journal, asked), out);
    Reply reply{200,
                out.take(),
                form == ".txt"   ? "text/plain; charset=utf-8"
                : form == ".csv" ? "text/csv; charset=utf-8"
                                 : "application/json",
                {}};
    reply.headers["Content-Disposition"] = "attachment; filename=\"" + file + "\"";
    // As the tool's exit status: a report of books that do not agree is still a report.
    if (status != audit::kGood) reply.headers["X-Jackpot-Agrees"] = "no";
    return reply;
}

// --- notices and proposals
// -------------------------------------------------------------------------

Reply Desk::notices(const Request& request)
{
    allowOnly(request, {"acknowledged", "before", "limit"});
    NoticeQuery query;
    const std::string acknowledged = textOf(request, "acknowledged");
    if (!acknowledged.empty() && acknowledged != "true" && acknowledged != "false")
        answer(400, "bad_query", "acknowledged is true or false");
    if (!acknowledged.empty()) query.acknowledged = acknowledged == "true";
    if (const auto before = numberOf(request, "before"))
        query.before = static_cast<std::uint64_t>(*before);
    query.limit = limitOf(request);
    const auto rows = book_.notices(query);
    return replyWith(200, [&](JsonText& json) {
        writeRows(json, "notices", rows, "before",
                  rows.empty() ? 0 : static_cast<std::int64_t>(rows.back().seq), query.limit,
                  [&](const NoticeRow& each) { writeNotice(json, each); });
    });
}

Reply Desk::proposals(const Request& request)
{
    allowOnly(request, {"state", "before", "limit"});
    ProposalQuery query;
    query.state = textOf(request, "state");
    if (const auto before = numberOf(request, "before"))
        query.before = static_cast<std::uint64_t>(*before);
    query.limit = limitOf(request);
    const auto rows = book_.proposals(query);
    return replyWith(200, [&](JsonText& json) {
        writeRows(json, "proposals", rows, "before",
                  rows.empty() ? 0 : static_cast<std::int64_t>(rows.back().id), query.limit,
                  [&](const ProposalRow& each) { writeProposal(json, each, now()); });
    });
}

Reply Desk::proposalReply(std::uint64_t id, int status)
{
    const auto row = book_.proposal(id);
    if (!row) answer(404, "not_found", "there is no such proposal");
    return replyWith(status, [&](JsonText& json) { writeProposal(json, *row, now()); });
}

Reply Desk::proposal(const Request& request)
{
    allowOnly(request, {});
    return proposalReply(static_cast<std::uint64_t>(numberIn(request, "id")));
}

}  // namespace jackpot::console
