// One thing that can be asked over HTTPS: who may ask it, and what answers. The table of all routes
// is the one place that says who may do what; the server enforces it before a handler runs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jackpot::console {

enum class Role : std::uint8_t { Supervisor, Surveillance, Auditor, Inspector, Administrator };

inline constexpr std::array kRoles{Role::Supervisor, Role::Surveillance, Role::Auditor,
                                   Role::Inspector, Role::Administrator};

std::string_view idOf(Role role);  // "surveillance"
std::optional<Role> roleOfId(std::string_view id);

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
    std::string session{};                     // its id, which is no secret; empty without one
    std::string certificate{};                 // SHA-256 of the client's, in hex; empty without one
};

struct Reply {
    int status = 200;
    std::string body;  // JSON, unless contentType says otherwise
    std::string contentType = "application/json";
    std::map<std::string, std::string> headers{};  // such as Content-Disposition
    std::string topic{};                           // of a feed; empty: everything
};

// {"error": {"code": "...", "message": "..."}} with the status.
Reply refusal(int status, std::string_view code, std::string_view message);

enum class Access : std::uint8_t {
    Anyone,      // without a session
    Monitoring,  // from where the daemon is watched, or any role
    SignedIn,    // any role
    Roles,       // one of `roles`
};

enum class WorkerPool : std::uint8_t {
    Quick,
    Passwords,   // hashes a password: two at once, and after everything else on the machine
    Monitoring,  // waits for nothing, and is answered also while all others wait for the journal
};

struct Route {
    std::string_view method;   // "GET", "POST", "DELETE"
    std::string_view pattern;  // "/api/v1/claims/{table}/{round}"
    Access access = Access::Roles;
    std::vector<Role> roles;
    std::function<Reply(const Request&)> handle;
    WorkerPool lane = WorkerPool::Quick;
    bool beforePasswordChange = false;  // also for who must change the password first
};

// The content type of a reply that turns its connection into a feed of what is published.
inline constexpr std::string_view kFeedType = "text/event-stream";

// The table as JSON: [{"method", "pattern", "access": "anyone" | "monitoring" | "signed_in" |
// "roles", "roles"}].
std::string toJson(const std::vector<Route>& routes);

}  // namespace jackpot::console
