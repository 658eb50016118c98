// The table of all routes of the daemon's API.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "console/desk/controller.h"
#include "console/desk/demo_dealers.h"
#include "console/desk/desk_api.h"
#include "console/desk/monitoring.h"
#include "console/people/access.h"
#include "console/people/people.h"
#include "console/people/sessions.h"

namespace jackpot::console {

// The objects that the routes use. All of them outlive the routes.
struct ApiDependencies {
    Controller& controller;
    People& people;
    Sessions& sessions;
    DeskApi& desk;
    const Monitoring& monitoring;
    DemoDealers* dealers = nullptr;  // null without demo tables
};

// Those that need no accounts: for a daemon without a desk.
std::vector<Route> routesWithoutDesk(const Controller& controller, const Monitoring& monitoring);
std::vector<Route> allRoutes(const ApiDependencies& dependencies);

// The topic of the events for the signs of a pool.
inline std::string signTopic(const std::string& pool) { return "sign " + pool; }

// console/desk/openapi.json, compiled into the program.
std::string_view openApi();

}  // namespace jackpot::console
