// Finds the route of a request.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/route.h"

namespace jackpot::net {

// Immutable, any thread. A found route lives as long as the router.
class Router {
public:
    // `notFound` is the message of the reply 404.
    Router(std::vector<Route> routes, std::string notFound);

    struct Match {
        const Route* route = nullptr;
        std::map<std::string, std::string> path;  // decoded, by the names in the pattern
    };
    // HEAD matches the route of GET. The error is a reply: 400, 404, 405, or 204 with Allow for
    // OPTIONS.
    [[nodiscard]] Result<Match, Reply> find(std::string_view method, std::string_view path) const;

private:
    std::vector<Route> routes_;
    std::string notFound_;
    std::vector<std::vector<std::string_view>> segments_;  // of each route's pattern
};

}  // namespace jackpot::net
