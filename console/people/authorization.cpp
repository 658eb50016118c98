#include "console/people/authorization.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "console/people/people.h"
#include "console/people/people_api.h"
#include "net/http_parser.h"

namespace jackpot::console {
namespace {

using net::RequestHead;

bool isSafe(std::string_view method) { return method == "GET" || method == "HEAD"; }

// An event stream and a background request of a page do not extend a session.
Sessions::Use useOf(const RequestHead& head)
{
    const bool isBackground = head.header("x-background-request") == "1" ||
                              head.header("accept") == net::kEventStreamType;
    return isSafe(head.method) && isBackground ? Sessions::Use::Background
                                               : Sessions::Use::ByPerson;
}

Result<Sessions::Session, Reply> sessionFor(const Route& route, const RequestHead& head,
                                            const std::string& address, Sessions& sessions)
{
    const std::string_view authorization = head.header("authorization");
    constexpr std::string_view kBearer = "Bearer ";
    const bool isBearer = !authorization.empty();
    std::string_view token;
    if (authorization.starts_with(kBearer))
        token = authorization.substr(kBearer.size());
    else if (!isBearer)
        token = net::cookieValue(head.header("cookie"), kCookie);
    auto session = sessions.use(token, address, useOf(head));
    if (!session) {
        Reply reply = errorReply(401, "not_signed_in", "sign in first");
        reply.headers["WWW-Authenticate"] = "Bearer";
        return reply;
    }
    // A browser adds the cookie to the requests of any page; a bearer token is always sent on
    // purpose.
    if (!isBearer && !isSafe(head.method) &&
        !isSameSecret(head.header("x-csrf-token"), session->csrf))
        return errorReply(403, "csrf_token_missing",
                          "X-CSRF-Token must be the csrf of this session");
    if (session->mustChangePassword && !route.beforePasswordChange)
        return errorReply(403, "password_must_change",
                          "change the password first: PUT /api/v1/session/password");
    if (route.access == Access::Roles &&
        std::ranges::find(route.roles, session->person.role) == route.roles.end())
        return errorReply(403, "role_not_allowed",
                          "not allowed for the role " + std::string{idOf(session->person.role)});
    return std::move(*session);
}

// The owner of the machine acts as an administrator, so that someone can sign in even if there is
// no account yet or all are locked.
Result<Person, Reply> ownerFor(const Route& route, uid_t user)
{
    if (user != 0 && user != ::geteuid())
        return errorReply(403, "not_the_owner",
                          "only the daemon's user and root may use this socket");
    if (route.owner != Owner::Allowed)
        return errorReply(403, "sign_in_needed",
                          "the owner of the machine may not do this: sign in at the desk");
    return Person{People::kLocalActor, Role::Administrator};
}

net::Handler handlerOf(std::shared_ptr<const Route> route, Person person, std::string session)
{
    return [route = std::move(route), person = std::move(person),
            session = std::move(session)](net::Request request) {
        return route->handle(Request{std::move(request), person, session});
    };
}

}  // namespace

std::vector<net::Route> guardedRoutes(std::vector<Route> routes, Sessions& sessions,
                                      const IsMonitor& isMonitor)
{
    std::vector<net::Route> guarded;
    for (Route& each : routes) {
        const auto route = std::make_shared<const Route>(std::move(each));
        const auto authorize = [route, &sessions, isMonitor](
                                   const RequestHead& head,
                                   const net::Client& client) -> Result<net::Authorized, Reply> {
            const std::string& address = client.address;
            if (client.localUser) {
                const auto owner = ownerFor(*route, *client.localUser);
                if (!owner) return owner.error();
                return net::Authorized{handlerOf(route, *owner, {})};
            }
            const bool needsNoSession =
                route->access == Access::Anyone ||
                (route->access == Access::Monitoring && isMonitor && isMonitor(address));
            if (needsNoSession) return net::Authorized{handlerOf(route, {}, {})};
            const auto session = sessionFor(*route, head, address, sessions);
            if (!session) return session.error();
            return net::Authorized{
                handlerOf(route, session->person, session->id),
                [&sessions, id = session->id] { return sessions.find(id).has_value(); }};
        };
        guarded.push_back({route->method, route->pattern, authorize, route->pool});
    }
    return guarded;
}

}  // namespace jackpot::console
