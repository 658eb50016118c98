// Roles, and the routes of the daemon's API with their access rules. The table of all routes is the
// one place that defines who may do what over HTTPS and on the machine's own socket;
// authorization.h enforces it before a handler runs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_message.h"
#include "net/route.h"

namespace jackpot::console {

using net::errorReply;
using net::Reply;
using net::WorkerPool;

enum class Role : std::uint8_t { Supervisor, Surveillance, Auditor, Inspector, Administrator };

inline constexpr std::array kRoles{Role::Supervisor, Role::Surveillance, Role::Auditor,
                                   Role::Inspector, Role::Administrator};

std::string_view idOf(Role role);  // "surveillance"
std::optional<Role> roleOfId(std::string_view id);

struct Person {
    std::string name;
    Role role = Role::Auditor;
};

// A request that net/http_server.h has parsed and authorization.h has accepted: the session, the
// CSRF token of a request that changes something, and the role are checked.
struct Request : net::Request {
    Person person;        // without a name if the client is anonymous
    std::string session;  // its id, which is no secret; empty without one and on the socket
};

// Over HTTPS.
enum class Access : std::uint8_t {
    Anyone,      // no session needed
    Monitoring,  // clients in [metrics] allow, or any signed-in role
    SignedIn,    // any role
    Roles,       // one of `roles`; nobody if there are none
};

// On the machine's own socket: the daemon's user or root, who acts as People::kLocalActor.
enum class Owner : std::uint8_t { Refused, Allowed };

struct Route {
    std::string_view method;   // "GET", "POST", "DELETE"
    std::string_view pattern;  // "/api/v1/claims/{table}/{round}"
    Access access = Access::Roles;
    std::vector<Role> roles;
    Owner owner = Owner::Refused;
    std::function<Reply(const Request&)> handle;
    WorkerPool pool = WorkerPool::Quick;
    bool beforePasswordChange = false;  // allowed to a person who must change the password first
};

// The table as JSON: [{"method", "pattern", "access": "anyone" | "monitoring" | "signed_in" |
// "roles", "roles", "owner": true | false}].
std::string toJson(const std::vector<Route>& routes);

}  // namespace jackpot::console
