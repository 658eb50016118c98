#include "console/desk/routes.h"

#include <algorithm>
#include <iterator>

#include "console/desk/pages.h"
#include "console/people/people_api.h"

namespace jackpot::console {
namespace {

Reply describe(const Request&)
{
    Reply reply;
    reply.body = openApi();
    return reply;
}

Reply feed(const Request&)
{
    Reply reply;
    reply.contentType = net::kEventStreamType;
    return reply;
}

Reply noSuchPool() { return errorReply(404, "unknown_pool", "there is no such pool"); }

// What stands on the wall for everyone to see takes no session.
std::vector<Route> signRoutes(const Controller& controller)
{
    const auto shown = [&controller](const Request& request) {
        return controller.shown(request.path.at("pool"));
    };
    return {
        {"GET",
         "/api/v1/signs/{pool}",
         Access::Anyone,
         {},
         [shown](const Request& request) {
             auto json = shown(request);
             return json ? Reply{200, std::move(*json)} : noSuchPool();
         }},
        {"GET", "/api/v1/signs/{pool}/feed", Access::Anyone, {}, [shown](const Request& request) {
             if (!shown(request)) return noSuchPool();
             Reply reply = feed(request);
             reply.topic = signTopic(request.path.at("pool"));
             return reply;
         }}};
}

void append(std::vector<Route>& all, std::vector<Route> more)
{
    std::ranges::move(more, std::back_inserter(all));
}

}  // namespace

std::vector<Route> allRoutes(const ApiDependencies& parts)
{
    std::vector<Route> all{
        {"GET", "/api/v1/openapi.json", Access::Anyone, {}, describe},
        {"GET", "/api/v1/feed", Access::SignedIn, {}, feed},
    };
    append(all, monitoringRoutes(parts.monitoring));
    append(all, pageRoutes());
    append(all, signRoutes(parts.controller));
    append(all, peopleRoutes(parts.people, parts.sessions));
    append(all, parts.desk.routes());
    append(all, dealerRoutes(parts.dealers));
    return all;
}

}  // namespace jackpot::console
