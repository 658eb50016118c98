#include "console/routes.h"

#include <algorithm>
#include <iterator>

#include "console/people_routes.h"

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
    reply.contentType = kFeedType;
    return reply;
}

void append(std::vector<Route>& all, std::vector<Route> more)
{
    std::ranges::move(more, std::back_inserter(all));
}

}  // namespace

std::vector<Route> allRoutes(const Parts& parts)
{
    std::vector<Route> all{
        {"GET", "/api/v1/openapi.json", Access::Anyone, {}, describe},
        {"GET", "/api/v1/feed", Access::SignedIn, {}, feed},
    };
    append(all, monitoringRoutes(parts.monitoring));
    append(all, peopleRoutes(parts.people, parts.sessions));
    append(all, parts.desk.routes());
    return all;
}

}  // namespace jackpot::console
