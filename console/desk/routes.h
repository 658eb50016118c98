// The table of all routes: the one place where the parts of the desk are put together.
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

// What the routes of the desk work on. All of it outlives them.
struct ApiDependencies {
    Controller& controller;
    People& people;
    Sessions& sessions;
    Desk& desk;
    const Monitoring& monitoring;
    Dealers* dealers = nullptr;  // of a demo floor
};

std::vector<Route> allRoutes(const ApiDependencies& parts);

// Under which events for the signs of a pool are published.
inline std::string signTopic(const std::string& pool) { return "sign " + pool; }

// console/openapi.json, as it was when this was built.
std::string_view openApi();

}  // namespace jackpot::console
