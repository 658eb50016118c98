#include "console/desk/desk_api.h"

#include <algorithm>
#include <chrono>

#include "audit/audit_error.h"
#include "audit/journal_view.h"
#include "console/desk/daemon_api.h"
#include "console/desk/desk_json.h"
#include "console/desk/desk_requests.h"
#include "console/desk/preview.h"
#include "console/desk/request_parameters.h"
#include "console/desk/wall_clock.h"
#include "console/people/person_name.h"
#include "console/search/proposal.h"
#include "console/search/record_people.h"
#include "storage/command_json.h"
#include "storage/sqlite.h"

namespace jackpot::console {
namespace {

using storage::JsonText;

// The roles of the second person; the table of routes has those of the first.
const std::vector<Role>& rolesOfSecondPerson(const rules::Command& command)
{
    static const std::vector<Role> kRounds{Role::Supervisor, Role::Administrator};
    static const std::vector<Role> kPools{Role::Administrator, Role::Inspector};
    const bool pool = std::holds_alternative<rules::AdjustPool>(command) ||
                      std::holds_alternative<rules::ChangePool>(command);
    return pool ? kPools : kRounds;
}

// Lets people find the event by the pool or table of the command.
void writePoolOrTable(JsonText& json, const rules::Command& command)
{
    if (const std::string* table = tableOf(command)) json.textField("table", *table);
    if (const auto* adjust = std::get_if<rules::AdjustPool>(&command))
        json.textField("pool", adjust->pool);
    if (const auto* change = std::get_if<rules::ChangePool>(&command))
        json.textField("pool", change->pool);
}

template <class Handler>
Reply guarded(Handler&& handle)
{
    try {
        return handle();
    } catch (HttpError& answered) {
        return std::move(answered.reply);
    } catch (const audit::AuditError& error) {
        return errorReply(503, "journal_not_readable", error.what());
    }
}

}  // namespace

DeskApi::DeskApi(DeskSettings settings, Controller controller, SearchIndex& index)
    : settings_{std::move(settings)}, controller_{std::move(controller)}, index_{index}
{
    if (!settings_.now) settings_.now = wallClockMs;
}

rules::TimeMs DeskApi::now() const { return settings_.now(); }

std::vector<Route> DeskApi::routes()
{
    using enum Role;
    std::vector<Route> routes;
    using Handler = Reply (DeskApi::*)(const Request&);
    const auto add = [&](std::string_view method, std::string_view pattern, Access access,
                         std::vector<Role> roles, Owner owner, Handler handler) {
        routes.push_back({method, pattern, access, std::move(roles), owner,
                          [this, handler](const Request& request) {
                              return guarded([&] { return (this->*handler)(request); });
                          }});
    };
    const auto addReading = [&](std::string_view method, std::string_view pattern,
                                Handler handler) {
        add(method, pattern, Access::SignedIn, {}, Owner::Allowed, handler);
    };
    // Only people who are signed in change the course of the game.
    const auto addChanging = [&](std::string_view pattern, std::vector<Role> roles,
                                 Handler handler) {
        add("POST", pattern, Access::Roles, std::move(roles), Owner::Refused, handler);
    };
    const std::vector<Role> suspenders{Supervisor, Surveillance, Inspector};
    const std::vector<Role> proposers{Supervisor, Administrator};
    const std::vector<Role> seconds{Supervisor, Administrator, Inspector};

    addReading("GET", "/api/v1/pools", &DeskApi::pools);
    addReading("GET", "/api/v1/pools/{pool}", &DeskApi::pool);
    addReading("GET", "/api/v1/pools/{pool}/history", &DeskApi::history);
    addReading("GET", "/api/v1/tables", &DeskApi::tables);
    addReading("GET", "/api/v1/tables/{table}", &DeskApi::table);
    addReading("GET", "/api/v1/claims", &DeskApi::claims);
    addReading("GET", "/api/v1/claims/{table}/{round}", &DeskApi::claim);
    addReading("GET", "/api/v1/pools/{pool}/rulings", &DeskApi::rulings);
    addReading("POST", "/api/v1/pools/{pool}/rulings/preview", &DeskApi::previewRuling);
    addReading("GET", "/api/v1/records", &DeskApi::records);
    addReading("GET", "/api/v1/records/{seq}", &DeskApi::record);
    addReading("GET", "/api/v1/records/{seq}/proof", &DeskApi::proof);
    addReading("GET", "/api/v1/checkpoint", &DeskApi::checkpoint);
    addReading("GET", "/api/v1/reports/{report}", &DeskApi::report);
    addReading("GET", "/api/v1/notices", &DeskApi::notices);
    addReading("GET", "/api/v1/proposals", &DeskApi::proposals);
    addReading("GET", "/api/v1/proposals/{id}", &DeskApi::proposal);

    addChanging("/api/v1/pools/{pool}/rulings", {Surveillance}, &DeskApi::ruleOnClaims);
    addChanging("/api/v1/claims/{table}/{round}/payments", {Supervisor}, &DeskApi::pay);
    addChanging("/api/v1/claims/{table}/{round}/withhold", {Supervisor}, &DeskApi::withhold);
    addChanging("/api/v1/claims/{table}/{round}/release", {Supervisor}, &DeskApi::release);
    addChanging("/api/v1/tables/{table}/suspend", suspenders, &DeskApi::suspendTable);
    addChanging("/api/v1/tables/{table}/resume", suspenders, &DeskApi::resumeTable);
    addChanging("/api/v1/pools/{pool}/suspend", suspenders, &DeskApi::suspendPool);
    addChanging("/api/v1/pools/{pool}/resume", suspenders, &DeskApi::resumePool);
    addChanging("/api/v1/tables/{table}/rounds/{round}/void", {Supervisor}, &DeskApi::voidRound);
    addChanging("/api/v1/tables/{table}/rounds/{round}/wagers/{seat}/void", {Supervisor},
                &DeskApi::voidWager);
    addChanging("/api/v1/tables/{table}/rounds/{round}/correct", {Supervisor}, &DeskApi::correct);
    addChanging("/api/v1/tables/{table}/rounds/{round}/close", {Supervisor}, &DeskApi::closeRound);
    addChanging("/api/v1/pools/{pool}/adjustments", proposers, &DeskApi::adjust);
    addChanging("/api/v1/pools/{pool}/parameters", proposers, &DeskApi::changeParameters);
    addChanging("/api/v1/notices/{id}/acknowledge", {Inspector, Surveillance},
                &DeskApi::acknowledge);
    addChanging("/api/v1/proposals/{id}/approve", seconds, &DeskApi::approve);
    addChanging("/api/v1/proposals/{id}/reject", seconds, &DeskApi::reject);
    addChanging("/api/v1/proposals/{id}/withdraw", proposers, &DeskApi::withdraw);
    addReading("GET", "/api/v1/lock", &DeskApi::lock);
    addChanging("/api/v1/lock/accept-restore", {Administrator, Inspector}, &DeskApi::acceptRestore);
    return routes;
}

// Commands of one person.

std::optional<Reply> DeskApi::decide(rules::Command command)
{
    const rules::Outcome outcome = orThrowUnavailable(controller_.decide(std::move(command)));
    // The decision is durable, even if the search index does not catch up in time.
    (void)index_.catchUp(settings_.searchTimeout);
    if (outcome.refusal) return refusalReply(*outcome.refusal);
    return std::nullopt;
}

std::optional<Reply> DeskApi::decideOrPropose(const Request& request, const rules::Command& command,
                                              const std::string& reason,
                                              std::string_view reasonKind)
{
    const State state = orThrowUnavailable(controller_.snapshot());
    const auto refusal = previewCommand(*state, command).outcome.refusal;
    if (refusal && refusal->code == rules::RefusalCode::NeedsTwoPeople)
        return propose(request, *state, command, reason);
    if (refusal) return recordRefusal(request, std::string{kindOf(command)}, *refusal);
    if (!reasonKind.empty())
        (void)orThrowUnavailable(
            controller_.appendEvent(std::string{reasonKind}, [&](JsonText& json) {
                json.textField("table", pathText(request, "table"));
                json.numberField("round", pathNumber(request, "round"));
                json.textField("reason", reason);
                json.textField("by", request.person.name);
            }));
    return decide(command);
}

// A command that the preview shows to be refused is not sent to the writer, so the refusal is
// recorded here.
Reply DeskApi::recordRefusal(const Request& request, const std::string& asked,
                             const rules::Refusal& refused)
{
    (void)controller_.appendEvent("request_refused", [&](JsonText& json) {
        json.textField("by", request.person.name);
        json.textField("asked", asked);
        json.textField("code", idOf(refused.code));
        for (const char* key : {"table", "pool"})
            if (const auto found = request.path.find(key); found != request.path.end())
                json.textField(key, found->second);
    });
    return refusalReply(refused);
}

Reply DeskApi::ruleOnClaims(const Request& request)
{
    const std::string pool = pathText(request, "pool");
    const RulingRequest body = orThrowBadBody(readRuling(request.body));
    const rules::RuleOnClaims command{pool, body.order, {request.person.name}};

    const std::scoped_lock lock{decisionMutex_};
    const State state = orThrowUnavailable(controller_.snapshot());
    const Preview preview = previewCommand(*state, command);
    if (preview.outcome.refusal)
        return recordRefusal(request, "surveillance_ruling", *preview.outcome.refusal);
    const rules::Pool& before = state->pools[*state->findPool(pool)];
    if (rulingToken(*state, before, body.order, preview.outcome) != body.token)
        throwHttpError(
            409, "preview_outdated",
            "the claims have changed since the preview of this ruling; read the previews again");
    // First the reason: after a crash in between, a reason without a ruling is harmless; a ruling
    // without a reason is not.
    (void)orThrowUnavailable(controller_.appendEvent("ruling_reasoned", [&](JsonText& json) {
        json.textField("pool", pool);
        json.textField("reason", body.reason);
        json.textField("ruling", describeOrder(body.order));
        json.textField("by", request.person.name);
    }));
    const rules::Outcome outcome = orThrowUnavailable(controller_.decide(command));
    (void)index_.catchUp(settings_.searchTimeout);
    if (outcome.refusal) return refusalReply(*outcome.refusal);
    return jsonReply(200, [&](JsonText& json) {
        json.textField("pool", pool);
        writeOrder(json, body.order);
        writeOutcomeAwards(json, *state, outcome);
    });
}

Reply DeskApi::pay(const Request& request)
{
    const std::string table = pathText(request, "table");
    const std::int64_t round = pathNumber(request, "round");
    const PaymentRequest body = orThrowBadBody(readPayment(request.body));
    const rules::RecordPayment command{{table, round, body.seat, body.tier},
                                       body.tier == rules::Tier::None,
                                       body.paid,
                                       body.how,
                                       {request.person.name}};
    const State state = orThrowUnavailable(controller_.snapshot());
    // Refuse now what is not due now. By the time of the decision it could be due, with an amount
    // that needs a second person.
    const Preview preview = previewCommand(*state, command);
    if (preview.outcome.refusal)
        return recordRefusal(request, "payment_recorded", *preview.outcome.refusal);
    if (std::max({preview.outcome.payment->due, body.paid, -body.paid}) >=
        settings_.secondPersonFrom)
        return propose(request, *state, command, body.how);
    if (auto reply = decide(command)) return *reply;
    return claimReply(table, round, true);
}

Reply DeskApi::withhold(const Request& request)
{
    const WithholdRequest body = orThrowBadBody(readWithhold(request.body));
    const rules::WithholdAward command{
        {pathText(request, "table"), pathNumber(request, "round"), body.seat, body.tier},
        body.reason,
        {request.person.name}};
    return propose(request, *orThrowUnavailable(controller_.snapshot()), command, body.reason);
}

Reply DeskApi::release(const Request& request)
{
    const WithholdRequest body = orThrowBadBody(readWithhold(request.body));
    const rules::ReleaseAward command{
        {pathText(request, "table"), pathNumber(request, "round"), body.seat, body.tier},
        body.reason,
        {request.person.name}};
    return propose(request, *orThrowUnavailable(controller_.snapshot()), command, body.reason);
}

Reply DeskApi::suspendTable(const Request& request)
{
    const std::string table = pathText(request, "table");
    const SuspensionRequest body = orThrowBadBody(readSuspension(request.body));
    if (auto reply = decide(rules::SuspendTable{
            table, body.ground, rules::Origin::Desk, body.reason, {request.person.name}}))
        return *reply;
    return tableReply(table);
}

Reply DeskApi::resumeTable(const Request& request)
{
    const std::string table = pathText(request, "table");
    const std::string reason = orThrowBadBody(readReason(request.body));
    if (auto reply =
            decide(rules::ResumeTable{table, rules::Origin::Desk, reason, {request.person.name}}))
        return *reply;
    return tableReply(table);
}

Reply DeskApi::suspendPool(const Request& request)
{
    const std::string pool = pathText(request, "pool");
    const std::string reason = orThrowBadBody(readReason(request.body));
    if (auto reply = decide(rules::SuspendPool{pool, reason, {request.person.name}})) return *reply;
    return poolReply(pool);
}

Reply DeskApi::resumePool(const Request& request)
{
    const std::string pool = pathText(request, "pool");
    const std::string reason = orThrowBadBody(readReason(request.body));
    if (auto reply = decide(rules::ResumePool{pool, reason, {request.person.name}})) return *reply;
    return poolReply(pool);
}

Reply DeskApi::voidRound(const Request& request)
{
    const std::string table = pathText(request, "table");
    const std::int64_t round = pathNumber(request, "round");
    VoidRoundRequest body = orThrowBadBody(readVoidRound(request.body));
    if (auto reply = decideOrPropose(request,
                                     rules::VoidRound{table,
                                                      round,
                                                      body.ground,
                                                      std::move(body.forfeited),
                                                      body.reason,
                                                      {request.person.name}},
                                     body.reason))
        return *reply;
    return tableReply(table);
}

Reply DeskApi::voidWager(const Request& request)
{
    const std::string table = pathText(request, "table");
    const std::int64_t round = pathNumber(request, "round");
    const std::int64_t seat = pathNumber(request, "seat");
    const VoidWagerRequest body = orThrowBadBody(readVoidWager(request.body));
    if (auto reply = decideOrPropose(
            request,
            rules::VoidWager{table, round, seat, body.ground, body.reason, {request.person.name}},
            body.reason))
        return *reply;
    return tableReply(table);
}

Reply DeskApi::correct(const Request& request)
{
    const std::string table = pathText(request, "table");
    const std::int64_t round = pathNumber(request, "round");
    CorrectionRequest body = orThrowBadBody(readCorrection(request.body));
    const rules::CorrectResult command{{table, round, std::move(body.board), std::move(body.hands)},
                                       {request.person.name}};
    if (auto reply = decideOrPropose(request, command, body.reason, "correction_reasoned"))
        return *reply;
    return tableReply(table);
}

Reply DeskApi::closeRound(const Request& request)
{
    const std::string table = pathText(request, "table");
    const rules::CloseRound command{table, pathNumber(request, "round")};
    const std::string reason = orThrowBadBody(readReason(request.body));
    if (auto reply = decideOrPropose(request, command, reason, "closing_reasoned")) return *reply;
    return tableReply(table);
}

Reply DeskApi::acknowledge(const Request& request)
{
    const std::string id = pathText(request, "id");
    const std::string remark = orThrowBadBody(readRemark(request.body));
    const std::scoped_lock lock{decisionMutex_};
    if (!index_.catchUp(settings_.searchTimeout))
        throwUnavailable("the search index has not read the whole journal yet; try again");
    const auto notice = orThrowNotSearchable(index_.notice(id));
    if (!notice) throwHttpError(404, "not_found", "there is no notice of this number");
    if (std::ranges::find(notice->to, idOf(request.person.role)) == notice->to.end())
        throwHttpError(403, "not_for_you",
                       "this notice is addressed to " + joinedTexts(notice->to, " and "));
    if (notice->acknowledgedMs)
        throwHttpError(409, "acknowledged",
                       "the notice was acknowledged by " + notice->acknowledgedBy);
    const std::uint64_t seq =
        orThrowUnavailable(controller_.appendEvent("notice_acknowledged", [&](JsonText& json) {
            json.textField("notice", notice->id);
            json.textField("by", request.person.name);
            if (!remark.empty()) json.textField("remark", remark);
        }));
    (void)index_.waitForRecord(seq, settings_.searchTimeout);
    const auto after = orThrowNotSearchable(index_.notice(id));
    return jsonReply(200, [&](JsonText& json) { writeNotice(json, after ? *after : *notice); });
}

// Commands of two people.

Reply DeskApi::adjust(const Request& request)
{
    const std::string pool = pathText(request, "pool");
    const AdjustmentRequest body = orThrowBadBody(readAdjustment(request.body));
    return propose(request, *orThrowUnavailable(controller_.snapshot()),
                   rules::AdjustPool{pool, body.amount, body.reason, {request.person.name}},
                   body.reason);
}

Reply DeskApi::changeParameters(const Request& request)
{
    const std::string id = pathText(request, "pool");
    const ParametersRequest body = orThrowBadBody(readParameters(request.body));
    const State state = orThrowUnavailable(controller_.snapshot());
    const auto pool = state->findPool(id);
    if (!pool) throwHttpError(404, "unknown_pool", "there is no pool of this name");
    const rules::PoolConfig& present = state->pools[*pool].config;
    const rules::ChangePool command{
        id, body.appliedTo(parametersOf(present)), body.reason, {request.person.name}};
    if (const auto refused = checkSettleAfter(controller_, present, command.to))
        return recordRefusal(request, "pool_change_agreed", *refused);
    return propose(request, *state, command, body.reason);
}

Reply DeskApi::propose(const Request& request, const rules::State& state, rules::Command command,
                       const std::string& reason)
{
    // Reject what the rules would refuse even with a second person.
    const Preview preview = previewCommand(state, withSecondPerson(command, "the second person"));
    if (preview.outcome.refusal)
        return recordRefusal(request, std::string{kindOf(command)}, *preview.outcome.refusal);
    const std::string proposed = proposedText(command);
    const std::uint64_t id =
        orThrowUnavailable(controller_.appendEvent("proposal_made", [&](JsonText& json) {
            json.textField("by", request.person.name);
            json.textField("reason", reason);
            json.numberField("expires", now() + settings_.proposalLifetime.count());
            writePoolOrTable(json, command);
            json.key("proposed");
            json.beginObject();
            json.textField("kind", kindOf(command));
            json.key("command");
            storage::writeCommand(json, command);
            json.endObject();
        }));
    if (!index_.waitForRecord(id, settings_.searchTimeout))
        throwUnavailable("the proposal is made as record " + std::to_string(id) +
                         ", but the search index has not read it yet");
    return proposalReply(id, 202);
}

// The approval is recorded before the command, so that a proposal is never carried out twice. A
// crash in between leaves an approved proposal without a command: people see it, and nobody can
// approve it again.
Reply DeskApi::approve(const Request& request)
{
    const auto id = static_cast<std::uint64_t>(pathNumber(request, "id"));
    const std::string hash = orThrowBadBody(readApproval(request.body));
    const std::scoped_lock lock{decisionMutex_};
    if (!index_.catchUp(settings_.searchTimeout))
        throwUnavailable("the search index has not read the whole journal yet; try again");
    const auto row = orThrowNotSearchable(index_.proposal(id));
    if (!row) throwHttpError(404, "not_found", "there is no proposal of this number");
    // Check against the journal: the search database is not signed.
    const std::string payload = audit::JournalView{{settings_.journal}}.payload(id);
    const auto command = readProposed(row->proposed);
    if (!command || payload.find("\"proposed\":" + row->proposed + "}") == std::string::npos)
        throwHttpError(503, "search_not_readable",
                       "the search database differs from the journal; delete search.db and restart "
                       "the daemon");
    const std::vector<Role>& roles = rolesOfSecondPerson(*command);
    if (std::ranges::find(roles, request.person.role) == roles.end())
        throwHttpError(403, "not_for_you", "this proposal needs a second person with another role");
    if (stateOf(*row, now()) != "open")
        throwHttpError(409, "not_open", "the proposal is " + std::string{stateOf(*row, now())});
    if (samePerson(row->by, request.person.name)) {
        (void)controller_.appendEvent("approval_refused", [&](JsonText& json) {
            json.numberField("proposal", static_cast<std::int64_t>(id));
            json.textField("by", request.person.name);
            json.textField("code", "same_person");
        });
        throwHttpError(403, "same_person",
                       "the second person must be another person than the first");
    }
    if (hash != row->sha256)
        throwHttpError(
            409, "not_what_was_proposed",
            "the hash differs from that of the proposed command; read the proposal again");
    (void)orThrowUnavailable(controller_.appendEvent("proposal_approved", [&](JsonText& json) {
        json.numberField("proposal", static_cast<std::int64_t>(id));
        json.textField("by", request.person.name);
        writePoolOrTable(json, *command);
    }));
    if (auto reply = decide(withSecondPerson(*command, request.person.name))) return *reply;
    return proposalReply(id);
}

Reply DeskApi::closeProposal(const Request& request, std::string_view kind,
                             const std::string& reason, bool byProposer)
{
    const auto id = static_cast<std::uint64_t>(pathNumber(request, "id"));
    const std::scoped_lock lock{decisionMutex_};
    if (!index_.catchUp(settings_.searchTimeout))
        throwUnavailable("the search index has not read the whole journal yet; try again");
    const auto row = orThrowNotSearchable(index_.proposal(id));
    if (!row) throwHttpError(404, "not_found", "there is no proposal of this number");
    if (samePerson(row->by, request.person.name) != byProposer)
        throwHttpError(403, "not_for_you",
                       byProposer ? "only the person who made the proposal can withdraw it"
                                  : "you made this proposal: withdraw it instead of rejecting it");
    if (stateOf(*row, now()) != "open")
        throwHttpError(409, "not_open", "the proposal is " + std::string{stateOf(*row, now())});
    const std::uint64_t seq =
        orThrowUnavailable(controller_.appendEvent(std::string{kind}, [&](JsonText& json) {
            json.numberField("proposal", static_cast<std::int64_t>(id));
            json.textField("by", request.person.name);
            if (!reason.empty()) json.textField("reason", reason);
        }));
    (void)index_.waitForRecord(seq, settings_.searchTimeout);
    return proposalReply(id);
}

Reply DeskApi::reject(const Request& request)
{
    return closeProposal(request, "proposal_rejected", orThrowBadBody(readReason(request.body)),
                         false);
}

Reply DeskApi::withdraw(const Request& request)
{
    return closeProposal(request, "proposal_withdrawn", orThrowBadBody(readRemark(request.body)),
                         true);
}

}  // namespace jackpot::console
