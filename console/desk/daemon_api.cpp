#include "console/desk/daemon_api.h"

#include <rapidjson/document.h>

#include "console/desk/desk_json.h"
#include "console/desk/request_parameters.h"
#include "storage/command_json.h"

namespace jackpot::console {
namespace {

using storage::JsonText;

void writeLines(JsonText& json, std::string_view key, const std::vector<std::string>& lines)
{
    json.key(key);
    json.beginArray();
    for (const std::string& each : lines) json.text(each);
    json.endArray();
}

Reply reload(const Controller& controller)
{
    const auto report = controller.reload();
    if (!report) return errorReply(503, "stopping", report.error().message);
    return jsonReply(200, [&](JsonText& json) {
        writeLines(json, "problems", report->problems);
        writeLines(json, "applied", report->applied);
        writeLines(json, "not_applied", report->notApplied);
    });
}

// The owner of the machine names the two people. The body is the command as it is journaled.
Reply recordAgreement(const Controller& controller, const Request& request)
{
    rapidjson::Document body;
    body.Parse<rapidjson::kParseIterativeFlag>(request.body.data(), request.body.size());
    if (body.HasParseError()) return errorReply(400, "bad_body", "it is not well-formed JSON");
    auto command = storage::readCommand("pool_change_agreed", body);
    if (!command) return errorReply(400, "bad_body", command.error().message);
    const std::string pool = request.path.at("pool");
    if (std::get<rules::ChangePool>(*command).pool != pool)
        return errorReply(400, "bad_body", "\"pool\" is another pool than that of the path");
    const auto state = controller.snapshot();
    if (!state) return errorReply(503, "unavailable", state.error().message);
    if (const auto known = (*state)->findPool(pool))
        if (const auto refused = checkSettleAfter(controller, (*state)->pools[*known].config,
                                                  std::get<rules::ChangePool>(*command).to))
            return refusalReply(*refused);
    const auto outcome = controller.decide(std::move(*command));
    if (!outcome) return errorReply(503, "unavailable", outcome.error().message);
    if (outcome->refusal) return refusalReply(*outcome->refusal);
    return jsonReply(200, [&](JsonText& json) {
        json.textField("pool", pool);
        json.textField("state", "agreed");
    });
}

// A GET without parameters, answered by a JSON object.
Route reading(std::string_view pattern, const std::function<std::string()>& read)
{
    // The pool of its own answers while all other handlers wait for the journal.
    return {"GET",
            pattern,
            Access::SignedIn,
            {},
            Owner::Allowed,
            [&read](const Request& request) {
                try {
                    allowOnlyParameters(request, {});
                    return Reply{200, read()};
                } catch (HttpError& error) {
                    return std::move(error.reply);
                }
            },
            WorkerPool::Monitoring};
}

}  // namespace

std::optional<rules::Refusal> checkSettleAfter(const Controller& controller,
                                               const rules::PoolConfig& pool,
                                               const rules::PoolParameters& to)
{
    if (!controller.leastSettleAfterMs) return std::nullopt;
    const rules::PoolConfig changed = withParameters(pool, to);
    const std::int64_t least = controller.leastSettleAfterMs(changed);
    if (changed.waitMs() >= least) return std::nullopt;
    return rules::refuse(rules::RefusalCode::BadConfiguration, "BJ 14.27.4",
                         "settle_after_ms is " + std::to_string(changed.waitMs()) +
                             "; it takes at least " + std::to_string(least) +
                             ": the window, offline_after_ms of the link and a heartbeat");
}

std::vector<Route> daemonRoutes(const Controller& controller)
{
    return {
        reading("/api/v1/status", controller.status),
        reading("/api/v1/meters", controller.meters),
        {"POST",
         "/api/v1/reload",
         Access::Roles,
         {},
         Owner::Allowed,
         [&controller](const Request&) { return reload(controller); }},
        {"POST",
         "/api/v1/pools/{pool}/agreements",
         Access::Roles,
         {},
         Owner::Allowed,
         [&controller](const Request& request) { return recordAgreement(controller, request); }},
    };
}

}  // namespace jackpot::console
