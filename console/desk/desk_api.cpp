#include "console/desk/desk_api.h"

#include <algorithm>
#include <chrono>

#include "audit/journal_view.h"
#include "audit/stop.h"
#include "console/desk/desk_json.h"
#include "console/desk/desk_requests.h"
#include "console/desk/preview.h"
#include "console/desk/proposal.h"
#include "console/desk/request_parameters.h"
#include "console/people/person_name.h"
#include "storage/command_json.h"
#include "storage/sqlite.h"

namespace jackpot::console {
namespace {

using storage::JsonText;

// Who may be the second person. The first is named in the table of routes.
const std::vector<Role>& secondFor(const rules::Command& command)
{
    static const std::vector<Role> kAwards{Role::Supervisor, Role::Administrator};
    static const std::vector<Role> kPools{Role::Administrator, Role::Inspector};
    const bool award = std::holds_alternative<rules::RecordPayment>(command) ||
                       std::holds_alternative<rules::WithholdAward>(command);
    return award ? kAwards : kPools;
}

// As the pool or table it is about, so that the record is found by them.
void placeFields(JsonText& json, const rules::Command& command)
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
    } catch (const audit::Stop& stop) {
        return errorReply(503, "journal_not_readable", stop.what());
    } catch (const storage::SqliteFailure& failure) {
        return errorReply(503, "search_not_readable", failure.what());
    }
}

}  // namespace

Desk::Desk(DeskSettings settings, Controller controller, SearchIndex& book)
    : settings_{std::move(settings)}, controller_{std::move(controller)}, book_{book}
{
    if (!settings_.now)
        settings_.now = [] {
            return std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                .count();
        };
}

rules::TimeMs Desk::now() const { return settings_.now(); }

std::vector<Route> Desk::routes()
{
    using enum Role;
    std::vector<Route> routes;
    using Handler = Reply (Desk::*)(const Request&);
    const auto add = [&](std::string_view method, std::string_view pattern, std::vector<Role> roles,
                         Handler handler) {
        routes.push_back({method, pattern, roles.empty() ? Access::SignedIn : Access::Roles,
                          std::move(roles), [this, handler](const Request& request) {
                              return guarded([&] { return (this->*handler)(request); });
                          }});
    };
    const std::vector<Role> all;
    const std::vector<Role> suspenders{Supervisor, Surveillance, Inspector};
    const std::vector<Role> proposers{Supervisor, Administrator};
    const std::vector<Role> seconds{Supervisor, Administrator, Inspector};

    add("GET", "/api/v1/pools", all, &Desk::pools);
    add("GET", "/api/v1/pools/{pool}", all, &Desk::pool);
    add("GET", "/api/v1/pools/{pool}/history", all, &Desk::history);
    add("GET", "/api/v1/tables", all, &Desk::tables);
    add("GET", "/api/v1/tables/{table}", all, &Desk::table);
    add("GET", "/api/v1/meters", all, &Desk::meters);
    add("GET", "/api/v1/claims", all, &Desk::claims);
    add("GET", "/api/v1/claims/{table}/{round}", all, &Desk::claim);
    add("GET", "/api/v1/pools/{pool}/rulings", all, &Desk::rulings);
    add("POST", "/api/v1/pools/{pool}/rulings/preview", all, &Desk::previewRuling);
    add("GET", "/api/v1/records", all, &Desk::records);
    add("GET", "/api/v1/records/{seq}", all, &Desk::record);
    add("GET", "/api/v1/records/{seq}/proof", all, &Desk::proof);
    add("GET", "/api/v1/checkpoint", all, &Desk::checkpoint);
    add("GET", "/api/v1/reports/{report}", all, &Desk::report);
    add("GET", "/api/v1/notices", all, &Desk::notices);
    add("GET", "/api/v1/proposals", all, &Desk::proposals);
    add("GET", "/api/v1/proposals/{id}", all, &Desk::proposal);

    add("POST", "/api/v1/pools/{pool}/rulings", {Surveillance}, &Desk::rule);
    add("POST", "/api/v1/claims/{table}/{round}/payments", {Supervisor}, &Desk::pay);
    add("POST", "/api/v1/claims/{table}/{round}/withhold", {Supervisor}, &Desk::withhold);
    add("POST", "/api/v1/tables/{table}/suspend", suspenders, &Desk::suspendTable);
    add("POST", "/api/v1/tables/{table}/resume", suspenders, &Desk::resumeTable);
    add("POST", "/api/v1/pools/{pool}/suspend", suspenders, &Desk::suspendPool);
    add("POST", "/api/v1/pools/{pool}/resume", suspenders, &Desk::resumePool);
    add("POST", "/api/v1/tables/{table}/rounds/{round}/void", {Supervisor}, &Desk::voidRound);
    add("POST", "/api/v1/tables/{table}/rounds/{round}/wagers/{seat}/void", {Supervisor},
        &Desk::voidWager);
    add("POST", "/api/v1/tables/{table}/rounds/{round}/correct", {Supervisor}, &Desk::correct);
    add("POST", "/api/v1/pools/{pool}/adjustments", proposers, &Desk::adjust);
    add("POST", "/api/v1/pools/{pool}/parameters", proposers, &Desk::changeParameters);
    add("POST", "/api/v1/notices/{id}/acknowledge", {Inspector, Surveillance}, &Desk::acknowledge);
    add("POST", "/api/v1/proposals/{id}/approve", seconds, &Desk::approve);
    add("POST", "/api/v1/proposals/{id}/reject", seconds, &Desk::reject);
    add("POST", "/api/v1/proposals/{id}/withdraw", proposers, &Desk::withdraw);
    add("GET", "/api/v1/lock", all, &Desk::lock);
    add("POST", "/api/v1/lock/accept-restore", {Administrator, Inspector}, &Desk::acceptRestore);
    return routes;
}

// --- deciding
// --------------------------------------------------------------------------------------

std::optional<Reply> Desk::carryOut(rules::Command command)
{
    const rules::Outcome outcome = orUnavailable(controller_.decide(std::move(command)));
    // What was decided is durable, whether or not the book is there to show it.
    (void)book_.catchUp(settings_.patience);
    if (outcome.refusal) return refusalOf(*outcome.refusal);
    return std::nullopt;
}

// What the rules would refuse does not get as far as a record of theirs; so there is one of ours.
Reply Desk::refuse(const Request& request, const std::string& asked, const rules::Refusal& refused)
{
    (void)controller_.note("request_refused", [&](JsonText& json) {
        json.textField("by", request.person.name);
        json.textField("asked", asked);
        json.textField("code", idOf(refused.code));
        for (const char* key : {"table", "pool"})
            if (const auto found = request.path.find(key); found != request.path.end())
                json.textField(key, found->second);
    });
    return refusalOf(refused);
}

Reply Desk::rule(const Request& request)
{
    const std::string pool = nameIn(request, "pool");
    const RulingBody body = orBadBody(readRuling(request.body));
    const rules::RuleOnClaims command{pool, body.order, request.person.name};

    const std::scoped_lock deciding{deciding_};
    const State state = orUnavailable(controller_.look());
    const Preview tried = previewCommand(*state, command);
    if (tried.outcome.refusal)
        return refuse(request, "surveillance_ruling", *tried.outcome.refusal);
    const rules::Pool& before = state->pools[*state->findPool(pool)];
    if (rulingToken(*state, before, tried.outcome) != body.token)
        answer(409, "preview_outdated",
               "the claims are not what was shown when this ruling was chosen: look again");
    // First the reason: a ruling without one would be worse than a reason without a ruling.
    (void)orUnavailable(controller_.note("ruling_reasoned", [&](JsonText& json) {
        json.textField("pool", pool);
        json.textField("reason", body.reason);
        json.textField("ruling", orderInWords(body.order));
        json.textField("by", request.person.name);
    }));
    const rules::Outcome outcome = orUnavailable(controller_.decide(command));
    (void)book_.catchUp(settings_.patience);
    if (outcome.refusal) return refusalOf(*outcome.refusal);
    return replyWith(200, [&](JsonText& json) {
        json.textField("pool", pool);
        writeOrder(json, body.order);
        std::size_t place = 0;
        json.objectsField("awards", outcome.awards, [&](const rules::Award& each) {
            writeAward(json, *state, each, ++place);
        });
    });
}

Reply Desk::pay(const Request& request)
{
    const std::string table = nameIn(request, "table");
    const std::int64_t round = numberIn(request, "round");
    const PaymentBody body = orBadBody(readPayment(request.body));
    const rules::RecordPayment command{
        {table, round, body.seat, body.tier}, body.paid, body.how, request.person.name};
    const State state = orUnavailable(controller_.look());
    // What is not due now is not tried later: it might be due then, and too much for one person.
    const Preview tried = previewCommand(*state, command);
    if (tried.outcome.refusal) return refuse(request, "payment_recorded", *tried.outcome.refusal);
    if (std::max(tried.outcome.payment->due, body.paid) >= settings_.secondPersonFrom)
        return propose(request, *state, command, body.how);
    if (auto reply = carryOut(command)) return *reply;
    return claimReply(table, round, true);
}

Reply Desk::withhold(const Request& request)
{
    const WithholdBody body = orBadBody(readWithhold(request.body));
    const rules::WithholdAward command{
        {nameIn(request, "table"), numberIn(request, "round"), body.seat, body.tier},
        body.reason,
        {request.person.name}};
    return propose(request, *orUnavailable(controller_.look()), command, body.reason);
}

Reply Desk::suspendTable(const Request& request)
{
    const std::string table = nameIn(request, "table");
    const std::string reason = orBadBody(readReason(request.body));
    if (auto reply = carryOut(rules::SuspendTable{table, reason, request.person.name}))
        return *reply;
    return tableReply(table);
}

Reply Desk::resumeTable(const Request& request)
{
    const std::string table = nameIn(request, "table");
    const std::string reason = orBadBody(readReason(request.body));
    if (auto reply = carryOut(rules::ResumeTable{table, reason, request.person.name}))
        return *reply;
    return tableReply(table);
}

Reply Desk::suspendPool(const Request& request)
{
    const std::string pool = nameIn(request, "pool");
    const std::string reason = orBadBody(readReason(request.body));
    if (auto reply = carryOut(rules::SuspendPool{pool, reason, request.person.name})) return *reply;
    return poolReply(pool);
}

Reply Desk::resumePool(const Request& request)
{
    const std::string pool = nameIn(request, "pool");
    const std::string reason = orBadBody(readReason(request.body));
    if (auto reply = carryOut(rules::ResumePool{pool, reason, request.person.name})) return *reply;
    return poolReply(pool);
}

Reply Desk::voidRound(const Request& request)
{
    const std::string table = nameIn(request, "table");
    const std::int64_t round = numberIn(request, "round");
    const std::string reason = orBadBody(readReason(request.body));
    if (auto reply = carryOut(rules::VoidRound{table, round, reason, request.person.name}))
        return *reply;
    return tableReply(table);
}

Reply Desk::voidWager(const Request& request)
{
    const std::string table = nameIn(request, "table");
    const std::int64_t round = numberIn(request, "round");
    const std::int64_t seat = numberIn(request, "seat");
    const std::string reason = orBadBody(readReason(request.body));
    if (auto reply = carryOut(rules::VoidWager{table, round, seat, reason, request.person.name}))
        return *reply;
    return tableReply(table);
}

Reply Desk::correct(const Request& request)
{
    const std::string table = nameIn(request, "table");
    const std::int64_t round = numberIn(request, "round");
    CorrectionBody body = orBadBody(readCorrection(request.body));
    if (auto reply = carryOut(rules::CorrectResult{
            {table, round, std::move(body.board), std::move(body.hands)}, request.person.name}))
        return *reply;
    return tableReply(table);
}

Reply Desk::acknowledge(const Request& request)
{
    const std::string id = nameIn(request, "id");
    const std::string remark = orBadBody(readRemark(request.body));
    const std::scoped_lock deciding{deciding_};
    if (!book_.catchUp(settings_.patience)) unavailable("the journal is not read yet: try again");
    const auto notice = book_.notice(id);
    if (!notice) answer(404, "not_found", "there is no such notice");
    if (notice->whom == "inspector" && request.person.role != Role::Inspector)
        answer(403, "not_for_you", "this notice is to an inspector");
    if (notice->acknowledgedMs)
        answer(409, "acknowledged", "it was acknowledged by " + notice->acknowledgedBy);
    const std::uint64_t seq =
        orUnavailable(controller_.note("notice_acknowledged", [&](JsonText& json) {
            json.textField("notice", notice->id);
            json.textField("by", request.person.name);
            if (!remark.empty()) json.textField("remark", remark);
        }));
    (void)book_.waitUntil(seq, settings_.patience);
    const auto after = book_.notice(id);
    return replyWith(200, [&](JsonText& json) { writeNotice(json, after ? *after : *notice); });
}

// --- two people
// ------------------------------------------------------------------------------------

Reply Desk::adjust(const Request& request)
{
    const std::string pool = nameIn(request, "pool");
    const AdjustmentBody body = orBadBody(readAdjustment(request.body));
    return propose(request, *orUnavailable(controller_.look()),
                   rules::AdjustPool{pool, body.amount, body.reason, {request.person.name}},
                   body.reason);
}

Reply Desk::changeParameters(const Request& request)
{
    const std::string id = nameIn(request, "pool");
    const ParametersBody body = orBadBody(readParametersBody(request.body));
    const State state = orUnavailable(controller_.look());
    const auto pool = state->findPool(id);
    if (!pool) answer(404, "unknown_pool", "there is no such pool");
    return propose(request, *state,
                   rules::ChangePool{id,
                                     body.appliedTo(parametersOf(state->pools[*pool].config)),
                                     body.reason,
                                     {request.person.name}},
                   body.reason);
}

Reply Desk::propose(const Request& request, const rules::State& state, rules::Command command,
                    const std::string& reason)
{
    // With some second person, the rules would have to take it.
    const Preview tried = previewCommand(state, withSecond(command, "the second person"));
    if (tried.outcome.refusal)
        return refuse(request, std::string{kindOf(command)}, *tried.outcome.refusal);
    const std::string proposed = proposedText(command);
    const std::uint64_t id = orUnavailable(controller_.note("proposal_made", [&](JsonText& json) {
        json.textField("by", request.person.name);
        json.textField("reason", reason);
        json.numberField("expires", now() + settings_.proposalLife.count());
        placeFields(json, command);
        json.key("proposed");
        json.beginObject();
        json.textField("kind", kindOf(command));
        json.key("command");
        storage::writeCommand(json, command);
        json.endObject();
    }));
    if (!book_.waitUntil(id, settings_.patience))
        unavailable("the proposal is made: it is record " + std::to_string(id));
    return proposalReply(id, 202);
}

// The order of the records is what keeps a proposal from being carried out twice: first the
// approval, then the command. Whoever is cut off in between leaves an approval without a command,
// which shows, and which nobody can approve again.
Reply Desk::approve(const Request& request)
{
    const auto id = static_cast<std::uint64_t>(numberIn(request, "id"));
    const std::string hash = orBadBody(readApproval(request.body));
    const std::scoped_lock deciding{deciding_};
    if (!book_.catchUp(settings_.patience)) unavailable("the journal is not read yet: try again");
    const auto row = book_.proposal(id);
    if (!row) answer(404, "not_found", "there is no such proposal");
    // The journal's word for it, not the book's.
    const std::string payload = audit::JournalView{{settings_.journal}}.payload(id);
    const auto command = readProposed(row->proposed);
    if (!command || payload.find("\"proposed\":" + row->proposed + "}") == std::string::npos)
        answer(503, "search_not_readable",
               "the search database does not say what the journal says");
    const std::vector<Role>& roles = secondFor(*command);
    if (std::ranges::find(roles, request.person.role) == roles.end())
        answer(403, "not_for_you", "the second person for this has another role");
    if (stateOf(*row, now()) != "open")
        answer(409, "not_open", "the proposal is " + std::string{stateOf(*row, now())});
    if (samePerson(row->by, request.person.name)) {
        (void)controller_.note("approval_refused", [&](JsonText& json) {
            json.numberField("proposal", static_cast<std::int64_t>(id));
            json.textField("by", request.person.name);
            json.textField("code", "same_person");
        });
        answer(403, "same_person", "one person cannot be both of two");
    }
    if (hash != row->sha256)
        answer(409, "not_what_was_proposed", "the hash is not that of what was proposed");
    (void)orUnavailable(controller_.note("proposal_approved", [&](JsonText& json) {
        json.numberField("proposal", static_cast<std::int64_t>(id));
        json.textField("by", request.person.name);
        placeFields(json, *command);
    }));
    if (auto reply = carryOut(withSecond(*command, request.person.name))) return *reply;
    return proposalReply(id);
}

Reply Desk::close(const Request& request, std::string_view kind, const std::string& reason,
                  bool byProposer)
{
    const auto id = static_cast<std::uint64_t>(numberIn(request, "id"));
    const std::scoped_lock deciding{deciding_};
    if (!book_.catchUp(settings_.patience)) unavailable("the journal is not read yet: try again");
    const auto row = book_.proposal(id);
    if (!row) answer(404, "not_found", "there is no such proposal");
    if (samePerson(row->by, request.person.name) != byProposer)
        answer(403, "not_for_you",
               byProposer ? "who proposed it withdraws it" : "who proposed it may withdraw it");
    if (stateOf(*row, now()) != "open")
        answer(409, "not_open", "the proposal is " + std::string{stateOf(*row, now())});
    const std::uint64_t seq =
        orUnavailable(controller_.note(std::string{kind}, [&](JsonText& json) {
            json.numberField("proposal", static_cast<std::int64_t>(id));
            json.textField("by", request.person.name);
            if (!reason.empty()) json.textField("reason", reason);
        }));
    (void)book_.waitUntil(seq, settings_.patience);
    return proposalReply(id);
}

Reply Desk::reject(const Request& request)
{
    return close(request, "proposal_rejected", orBadBody(readReason(request.body)), false);
}

Reply Desk::withdraw(const Request& request)
{
    return close(request, "proposal_withdrawn", orBadBody(readRemark(request.body)), true);
}

}  // namespace jackpot::console
