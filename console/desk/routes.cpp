#include "console/desk/routes.h"

#include <algorithm>
#include <iterator>

#include "console/desk/daemon_api.h"
#include "console/desk/pages.h"
#include "console/people/people_api.h"

namespace jackpot::console {
namespace {

Reply openApiReply(const Request&)
{
    Reply reply;
    reply.body = openApi();
    return reply;
}

Reply feedReply(const Request&)
{
    Reply reply;
    reply.contentType = net::kEventStreamType;
    return reply;
}

Reply unknownPool() { return errorReply(404, "unknown_pool", "there is no pool of this name"); }

// Signs hang on the wall for everyone, so they need no session.
std::vector<Route> signRoutes(const Controller& controller)
{
    const auto reading = [&controller](const Request& request) {
        return controller.poolReading(request.path.at("pool"));
    };
    return {{"GET",
             "/api/v1/signs/{pool}",
             Access::Anyone,
             {},
             Owner::Allowed,
             [reading](const Request& request) {
                 auto json = reading(request);
                 return json ? Reply{200, std::move(*json)} : unknownPool();
             }},
            {"GET",
             "/api/v1/signs/{pool}/feed",
             Access::Anyone,
             {},
             Owner::Allowed,
             [reading](const Request& request) {
                 if (!reading(request)) return unknownPool();
                 Reply reply = feedReply(request);
                 reply.topic = signTopic(request.path.at("pool"));
                 return reply;
             }}};
}

void appendRoutes(std::vector<Route>& all, std::vector<Route> more)
{
    std::ranges::move(more, std::back_inserter(all));
}

}  // namespace

std::vector<Route> routesWithoutDesk(const Controller& controller, const Monitoring& monitoring)
{
    std::vector<Route> routes{
        {"GET", "/api/v1/openapi.json", Access::Anyone, {}, Owner::Allowed, openApiReply}};
    appendRoutes(routes, monitoringRoutes(monitoring));
    appendRoutes(routes, daemonRoutes(controller));
    return routes;
}

std::vector<Route> allRoutes(const ApiDependencies& dependencies)
{
    std::vector<Route> all = routesWithoutDesk(dependencies.controller, dependencies.monitoring);
    all.push_back({"GET", "/api/v1/feed", Access::SignedIn, {}, Owner::Allowed, feedReply});
    appendRoutes(all, pageRoutes());
    appendRoutes(all, signRoutes(dependencies.controller));
    appendRoutes(all, peopleRoutes(dependencies.people, dependencies.sessions));
    appendRoutes(all, dependencies.desk.routes());
    appendRoutes(all, demoRoutes(dependencies.dealers));
    return all;
}

}  // namespace jackpot::console
