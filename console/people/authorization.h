// Enforces the access rules of the routes. Over HTTPS: session, CSRF token, password change, role.
// On the machine's own socket: the user of the process.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "console/people/access.h"
#include "console/people/sessions.h"
#include "net/route.h"

namespace jackpot::console {

// Whether a client of this address may use the routes for monitoring without a session.
using IsMonitor = std::function<bool(const std::string& address)>;

// The routes for net::HttpServer, each with the check of its access rule. The sessions outlive
// them. If `isMonitor` is unset, monitoring needs a session.
std::vector<net::Route> guardedRoutes(std::vector<Route> routes, Sessions& sessions,
                                      const IsMonitor& isMonitor = {});

}  // namespace jackpot::console
