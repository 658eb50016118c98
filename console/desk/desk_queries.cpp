// The reading routes of the desk.
#include <rapidjson/document.h>

#include <algorithm>
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
#include "rules/holds.h"

namespace jackpot::console {
namespace {

using audit::JournalView;
using storage::JsonText;

constexpr std::size_t kMaxDescriptionBytes = 8U << 20U;
constexpr std::size_t kMaxReportBytes = 32U << 20U;

const rules::Pool& findPool(const rules::State& state, const std::string& id)
{
    const auto index = state.findPool(id);
    if (!index) throwHttpError(404, "unknown_pool", "there is no pool of this name");
    return state.pools[*index];
}

Period queryPeriod(const Request& request)
{
    const auto text = [&](const char* key) -> std::optional<std::string> {
        const std::string value = queryText(request, key);
        return value.empty() ? std::nullopt : std::optional{value};
    };
    const auto period =
        periodOf({text("from"), text("to"), text("month"), text("timezone-offset")});
    if (!period) throwHttpError(400, "bad_query", period.error().message);
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
                  const RulingOrder& order, const Preview& preview)
{
    const rules::Pool& before = findPool(state, pool);
    const rules::Pool& after = findPool(preview.after, pool);
    writeOrder(json, order);
    json.textField("words", describeOrder(order));
    writeOutcomeAwards(json, state, preview.outcome);
    json.moneyField("meter_after", after.meter);
    json.moneyField("displayed_after", after.displayed());
    json.moneyField("reserve_after", after.reserve);
    json.textField("token", rulingToken(state, before, order, preview.outcome));
}

}  // namespace

Reply DeskApi::poolReply(const std::string& id)
{
    const State state = orThrowUnavailable(controller_.snapshot());
    const rules::Pool& pool = findPool(*state, id);
    return jsonReply(200, [&](JsonText& json) { writePool(json, *state, pool); });
}

Reply DeskApi::tableReply(const std::string& id)
{
    const State state = orThrowUnavailable(controller_.snapshot());
    const auto index = state->findTable(id);
    if (!index) throwHttpError(404, "unknown_table", "there is no table of this name");
    const auto suspension = orThrowNotSearchable(index_.suspensionOf(id));
    return jsonReply(
        200, [&](JsonText& json) { writeTable(json, *state, state->tables[*index], suspension); });
}

Reply DeskApi::pools(const Request& request)
{
    allowOnlyParameters(request, {});
    const State state = orThrowUnavailable(controller_.snapshot());
    return jsonReply(200, [&](JsonText& json) {
        json.objectsField("pools", state->pools,
                          [&](const rules::Pool& each) { writePool(json, *state, each); });
    });
}

Reply DeskApi::pool(const Request& request)
{
    allowOnlyParameters(request, {});
    return poolReply(pathText(request, "pool"));
}

Reply DeskApi::tables(const Request& request)
{
    allowOnlyParameters(request, {});
    const State state = orThrowUnavailable(controller_.snapshot());
    return jsonReply(200, [&](JsonText& json) {
        json.objectsField("tables", state->tables, [&](const rules::Table& each) {
            writeTable(json, *state, each,
                       each.suspended ? orThrowNotSearchable(index_.suspensionOf(each.config.id))
                                      : std::nullopt);
        });
    });
}

Reply DeskApi::table(const Request& request)
{
    allowOnlyParameters(request, {});
    return tableReply(pathText(request, "table"));
}

Reply DeskApi::history(const Request& request)
{
    allowOnlyParameters(request, {"from", "to", "points"});
    AmountQuery query;
    query.pool = pathText(request, "pool");
    (void)findPool(*orThrowUnavailable(controller_.snapshot()), query.pool);
    const Period period = queryPeriod(request);
    if (period.hasFrom) query.fromMs = period.fromMs;
    if (period.hasTo) query.toMs = period.toMs - 1;
    if (const auto points = queryNumber(request, "points")) {
        if (*points < 2 || *points > static_cast<std::int64_t>(kMaxRows))
            throwHttpError(400, "bad_query",
                           "points is not between 2 and " + std::to_string(kMaxRows));
        query.points = static_cast<std::size_t>(*points);
    }
    const auto rows = orThrowNotSearchable(index_.amounts(query));
    return jsonReply(200, [&](JsonText& json) {
        json.textField("pool", query.pool);
        json.objectsField("amounts", rows, [&](const AmountRow& each) {
            json.numberField("record", static_cast<std::int64_t>(each.seq));
            json.textField("utc", isoTime(each.timeMs));
            if (each.before) json.moneyField("before", *each.before);
            json.moneyField("displayed", each.displayed);
        });
    });
}

// Claims and rulings.

Reply DeskApi::claims(const Request& request)
{
    allowOnlyParameters(request, {"state", "pool", "table", "paid", "before", "limit"});
    ClaimQuery query{queryText(request, "state"),    queryText(request, "pool"),
                     queryText(request, "table"),    queryFlag(request, "paid"),
                     queryNumber(request, "before"), queryLimit(request)};
    const auto rows = orThrowNotSearchable(index_.claims(query));
    const State state = stateFor(rows);
    return jsonReply(200, [&](JsonText& json) {
        writeRows(json, "claims", rows, "before", rows.empty() ? 0 : rows.back().id, query.limit,
                  [&](const ClaimRow& each) { writeClaim(json, each, state.get()); });
    });
}

DeskApi::State DeskApi::stateFor(const std::vector<ClaimRow>& claims)
{
    if (std::ranges::none_of(claims, [](const ClaimRow& each) {
            return each.state == "claimed" || each.state == "held";
        }))
        return nullptr;
    const auto state = controller_.snapshot();
    return state ? *state : nullptr;
}

Reply DeskApi::claimReply(const std::string& table, std::int64_t round, bool justPaid)
{
    const RoundRows rows{orThrowNotSearchable(index_.claimsOf(table, round)),
                         orThrowNotSearchable(index_.awardsOf(table, round)),
                         orThrowNotSearchable(index_.paymentsOf(table, round)),
                         orThrowNotSearchable(index_.earlierAmountsOf(table, round)),
                         orThrowNotSearchable(index_.refundsOf(table, round))};
    if (rows.empty() && !justPaid)
        throwHttpError(404, "no_such_claim", "nothing was won, paid or returned in this round");
    const State state = stateFor(rows.claims);
    return jsonReply(200, [&](JsonText& json) {
        json.textField("table", table);
        json.numberField("round", round);
        writeRound(json, rows, state.get());
    });
}

Reply DeskApi::claim(const Request& request)
{
    allowOnlyParameters(request, {});
    return claimReply(pathText(request, "table"), pathNumber(request, "round"), false);
}

Reply DeskApi::rulings(const Request& request)
{
    allowOnlyParameters(request, {});
    const std::string id = pathText(request, "pool");
    const State state = orThrowUnavailable(controller_.snapshot());
    const rules::Pool& pool = findPool(*state, id);
    const auto writeHold = [&](JsonText& json, const std::vector<rules::RoundRef>& held) {
        const std::uint64_t hold = holdOf(*state, pool, {held});
        json.numberField("hold", static_cast<std::int64_t>(hold));
        writeReasons(json, pool, hold);
        json.objectsField("rounds", held, [&](const rules::RoundRef& each) {
            json.textField("table", each.table);
            json.numberField("round", each.round);
        });
        json.boolField("all_rulings", held.size() <= kAllRulingsUpTo);
        json.key("previews");
        json.beginArray();
        for (const RulingOrder& order : possibleRulings(held)) {
            if (checkRuling(*state, pool, order)) continue;  // two rounds of one table together
            json.beginObject();
            writePreview(
                json, *state, id, order,
                previewCommand(*state, rules::RuleOnClaims{id, order, {request.person.name}}));
            json.endObject();
        }
        json.endArray();
    };
    return jsonReply(200, [&](JsonText& json) {
        json.textField("pool", id);
        json.objectsField("holds", rules::holdsOf(*state, pool),
                          [&](const auto& each) { writeHold(json, each); });
    });
}

Reply DeskApi::previewRuling(const Request& request)
{
    const std::string id = pathText(request, "pool");
    const RulingOrder order = orThrowBadBody(readRulingOrder(request.body));
    const State state = orThrowUnavailable(controller_.snapshot());
    const Preview preview =
        previewCommand(*state, rules::RuleOnClaims{id, order, {request.person.name}});
    if (preview.outcome.refusal) return refusalReply(*preview.outcome.refusal);
    return jsonReply(200, [&](JsonText& json) { writePreview(json, *state, id, order, preview); });
}

// The journal.

Reply DeskApi::records(const Request& request)
{
    allowOnlyParameters(request, {"kind", "pool", "table", "round", "who", "from", "to", "after",
                                  "before", "limit"});
    const Period period = queryPeriod(request);
    const auto seq = [&](const char* key) -> std::optional<std::uint64_t> {
        const auto number = queryNumber(request, key);
        return number ? std::optional{static_cast<std::uint64_t>(*number)} : std::nullopt;
    };
    RecordQuery query;
    query.kind = queryText(request, "kind");
    query.pool = queryText(request, "pool");
    query.table = queryText(request, "table");
    query.who = queryText(request, "who");
    query.round = queryNumber(request, "round");
    if (period.hasFrom) query.fromMs = period.fromMs;
    if (period.hasTo) query.toMs = period.toMs;
    query.after = seq("after");
    query.before = seq("before");
    query.limit = queryLimit(request);
    const auto rows = orThrowNotSearchable(index_.records(query));
    return jsonReply(200, [&](JsonText& json) {
        writeRows(json, "records", rows, query.after ? "after" : "before",
                  rows.empty() ? 0 : static_cast<std::int64_t>(rows.back().seq), query.limit,
                  [&](const RecordRow& each) { writeRecord(json, each); });
    });
}

Reply DeskApi::record(const Request& request)
{
    allowOnlyParameters(request, {});
    const auto seq = static_cast<std::uint64_t>(pathNumber(request, "seq"));
    JournalView journal{{settings_.journal}};
    if (seq >= journal.end() || seq < journal.first())
        throwHttpError(404, "not_found", "there is no record of this number");
    const std::string payload = journal.payload(seq);
    audit::Payload parsed;
    parsed.parse(seq, payload);
    audit::TextOutput words{kMaxDescriptionBytes};
    printRecord(parsed, words);
    return jsonReply(200, [&](JsonText& json) {
        json.numberField("record", static_cast<std::int64_t>(seq));
        json.textField("utc", isoTime(parsed.timeMs()));
        json.textField("kind", parsed.kind());
        json.textField("payload", payload);
        json.textField("words", words.take());
    });
}

Reply DeskApi::proof(const Request& request)
{
    allowOnlyParameters(request, {});
    const auto seq = static_cast<std::uint64_t>(pathNumber(request, "seq"));
    JournalView journal{{settings_.journal}};
    if (seq >= journal.end() || seq < journal.first())
        throwHttpError(404, "not_found", "there is no record of this number");
    Reply reply{200, proofText(journal, seq), "text/plain; charset=utf-8", {}};
    reply.headers["Content-Disposition"] =
        "attachment; filename=\"record-" + std::to_string(seq) + ".tlog-proof\"";
    return reply;
}

Reply DeskApi::checkpoint(const Request& request)
{
    allowOnlyParameters(request, {});
    const JournalView journal{{settings_.journal}, 1};
    return {200, journal.noteText(), "text/plain; charset=utf-8", {}};
}

Reply DeskApi::report(const Request& request)
{
    allowOnlyParameters(request, {"pool", "from", "to", "month", "timezone-offset", "last"});
    const std::string file = pathText(request, "report");
    const std::size_t dot = std::min(file.find('.'), file.size());
    const std::string form = file.substr(dot);
    const audit::Report make = audit::reportOfName(std::string_view{file}.substr(0, dot));
    if (make == nullptr || (form != ".txt" && form != ".csv" && form != ".json"))
        throwHttpError(404, "not_found",
                       "there is no such report; there are wins, reconciliation and differences, "
                       "as .txt, .csv or "
                       ".json");
    audit::ReportRequest asked;
    asked.period = queryPeriod(request);
    asked.pool = queryText(request, "pool");
    const auto last = queryNumber(request, "last");
    if (last && (*last < 1 || *last > static_cast<std::int64_t>(audit::kMaxLast)))
        throwHttpError(400, "bad_query",
                       "last is not between 1 and " + std::to_string(audit::kMaxLast));
    if (last) asked.last = static_cast<std::uint64_t>(*last);
    asked.form = form == ".txt"   ? audit::ReportForm::Text
                 : form == ".csv" ? audit::ReportForm::Csv
                                  : audit::ReportForm::Object;

    // One report at a time: each reads much of the journal.
    const std::unique_lock alone{reportMutex_, std::try_to_lock};
    if (!alone) throwUnavailable("another report is being made; try again");
    const auto until = std::chrono::steady_clock::now() + settings_.reportTimeout;
    JournalView journal{
        {settings_.journal}, JournalView::kAllFiles, [this, until](std::uint64_t, std::uint64_t) {
            if (stopping_) throwUnavailable("the daemon is shutting down");
            if (std::chrono::steady_clock::now() > until)
                throwUnavailable(
                    "the report takes too long; choose a shorter period "
                    "or use jackpot-audit");
        }};
    if (!asked.pool.empty() && !orThrowUnavailable(controller_.snapshot())->findPool(asked.pool))
        throwHttpError(404, "unknown_pool", "there is no pool of this name");
    audit::TextOutput out{kMaxReportBytes};
    const bool agrees = make(journal, asked, askedPools(journal, asked), out);
    Reply reply{200,
                out.take(),
                form == ".txt"   ? "text/plain; charset=utf-8"
                : form == ".csv" ? "text/csv; charset=utf-8"
                                 : "application/json",
                {}};
    reply.headers["Content-Disposition"] = "attachment; filename=\"" + file + "\"";
    // A report whose figures do not agree is still a report.
    if (!agrees) reply.headers["X-Jackpot-Reconciled"] = "no";
    return reply;
}

// Notices and proposals.

Reply DeskApi::notices(const Request& request)
{
    allowOnlyParameters(request, {"acknowledged", "before", "limit"});
    NoticeQuery query;
    query.acknowledged = queryFlag(request, "acknowledged");
    if (const auto before = queryNumber(request, "before"))
        query.before = static_cast<std::uint64_t>(*before);
    query.limit = queryLimit(request);
    const auto rows = orThrowNotSearchable(index_.notices(query));
    return jsonReply(200, [&](JsonText& json) {
        writeRows(json, "notices", rows, "before",
                  rows.empty() ? 0 : static_cast<std::int64_t>(rows.back().seq), query.limit,
                  [&](const NoticeRow& each) { writeNotice(json, each); });
    });
}

Reply DeskApi::proposals(const Request& request)
{
    allowOnlyParameters(request, {"state", "before", "limit"});
    ProposalQuery query;
    query.state = queryText(request, "state");
    if (const auto before = queryNumber(request, "before"))
        query.before = static_cast<std::uint64_t>(*before);
    query.limit = queryLimit(request);
    const auto rows = orThrowNotSearchable(index_.proposals(query));
    return jsonReply(200, [&](JsonText& json) {
        writeRows(json, "proposals", rows, "before",
                  rows.empty() ? 0 : static_cast<std::int64_t>(rows.back().id), query.limit,
                  [&](const ProposalRow& each) { writeProposal(json, each, now()); });
    });
}

Reply DeskApi::proposalReply(std::uint64_t id, int status)
{
    const auto row = orThrowNotSearchable(index_.proposal(id));
    if (!row) throwHttpError(404, "not_found", "there is no proposal of this number");
    return jsonReply(status, [&](JsonText& json) { writeProposal(json, *row, now()); });
}

Reply DeskApi::proposal(const Request& request)
{
    allowOnlyParameters(request, {});
    return proposalReply(static_cast<std::uint64_t>(pathNumber(request, "id")));
}

}  // namespace jackpot::console
