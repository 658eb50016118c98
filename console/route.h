// One thing that can be asked over HTTPS: who may ask it, and what answers. The table of all routes
// is the one place that says who may do what; the server enforces it before a handler runs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace jackpot::console {

enum class Role : std::uint8_t { Supervisor, Surveillance, Auditor, Inspector, Administrator };

std::string_view idOf(Role role);  // "surveillance"

struct Person {
    std::string name;
    Role role = Role::Auditor;
};

// What reaches a handler has passed: the size limits, the person's session, the CSRF check where
// the method changes something, and the role.
struct Request {
    std::string method;
    std::map<std::string, std::string> path;   // by the names in the pattern
    std::map<std::string, std::string> query;  // decoded; the last of several
    std::string body;                          // at most 64 KiB
    Person person;                             // without a name on a route for anyone
    std::string address;                       // of the client
};

struct Reply {
    int status = 200;
    std::string body;  // JSON, unless contentType says otherwise
    std::string contentType = "application/json";
    std::map<std::string, std::string> headers;  // such as Content-Disposition
};

// {"error": {"code": "...", "message": "..."}} with the status.
Reply refusal(int status, std::string_view code, std::string_view message);

enum class Access : std::uint8_t {
    Anyone,    // without a session
    SignedIn,  // any role
    Roles,     // one of `roles`
};

struct Route {
    std::string_view method;   // "GET", "POST", "DELETE"
    std::string_view pattern;  // "/api/v1/claims/{table}/{round}"
    Access access = Access::Roles;
    std::vector<Role> roles;
    std::function<Reply(const Request&)> handle;
};

}  // namespace jackpot::console
