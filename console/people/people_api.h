// Routes for sessions (sign in, sign out) and for the administration of people.
#pragma once

#include <string_view>
#include <vector>

#include "console/people/access.h"
#include "console/people/people.h"
#include "console/people/sessions.h"

namespace jackpot::console {

// RFC 6265bis: the prefix __Host- limits the cookie to this host and to TLS.
inline constexpr std::string_view kCookie = "__Host-jackpot";

std::vector<Route> peopleRoutes(People& people, Sessions& sessions);

// {"name", "role", "certificate", "disabled", "must_change_password", "locked_for_s"}
void writeAccount(storage::JsonText& json, const People::Account& account);

}  // namespace jackpot::console
