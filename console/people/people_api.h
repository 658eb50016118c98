// Signing in and out, and the administration of people.
#pragma once

#include <string_view>
#include <vector>

#include "console/people/access.h"
#include "console/people/people.h"
#include "console/people/sessions.h"

namespace jackpot::console {

// RFC 6265bis: a cookie of that name is this host's alone and travels over TLS alone.
inline constexpr std::string_view kCookie = "__Host-jackpot";

std::vector<Route> peopleRoutes(People& people, Sessions& sessions);

// {"name", "role", "certificate", "disabled", "must_change_password", "locked_for_s"}
void writeAccount(storage::JsonText& json, const People::Account& account);

}  // namespace jackpot::console
