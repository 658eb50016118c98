#include "console/people/people_api.h"

#include "console/people/json_reply.h"

namespace jackpot::console {
namespace {

Reply malformed(const Error& error) { return errorReply(400, "malformed_body", error.message); }

Reply noContent()
{
    Reply reply;
    reply.status = 204;
    return reply;
}

std::string cookieWith(std::string_view value, std::string_view more)
{
    return std::string{kCookie} + "=" + std::string{value} +
           "; Path=/; Secure; HttpOnly; SameSite=Strict" + std::string{more};
}

void writeSession(storage::JsonText& text, const Sessions& sessions,
                  const Sessions::Session& session)
{
    text.textField("name", session.person.name);
    text.textField("role", idOf(session.person.role));
    text.textField("csrf", session.csrf);
    text.boolField("must_change_password", session.mustChangePassword);
    text.numberField("expires_in_s", sessions.remainingMs(session) / 1000);
}

// The token is in the body only if the client asks for it with ?bearer; a browser gets a cookie
// that its scripts cannot read.
Reply signIn(People& people, Sessions& sessions, const Request& request)
{
    const auto given = readCredentials(request.body);
    if (!given) return malformed(given.error());
    const auto signedIn = people.signIn(*given, request.certificate, request.address);
    if (!signedIn) return replyOf(signedIn.error());
    const auto session = sessions.use(signedIn->session.token, request.address);
    if (!session) return errorReply(503, "session_ended", "the session has ended; sign in again");
    const bool bearer = request.query.contains("bearer");
    Reply reply = jsonReply(201, [&](storage::JsonText& text) {
        writeSession(text, sessions, *session);
        if (bearer) text.textField("token", signedIn->session.token);
    });
    if (!bearer) reply.headers["Set-Cookie"] = cookieWith(signedIn->session.token, "");
    return reply;
}

Reply whoAmI(Sessions& sessions, const Request& request)
{
    const auto session = sessions.find(request.session);
    if (!session) return errorReply(401, "not_signed_in", "sign in first");
    return jsonReply(200, [&](storage::JsonText& text) { writeSession(text, sessions, *session); });
}

Reply signOut(People& people, const Request& request)
{
    // The session has ended even if the event could not be journaled.
    const auto signedOut = people.signOut(request);
    Reply reply = signedOut ? noContent() : replyOf(signedOut.error());
    reply.headers["Set-Cookie"] = cookieWith("", "; Max-Age=0");
    return reply;
}

Reply changePassword(People& people, const Request& request)
{
    const auto given = readNewPassword(request.body);
    if (!given) return malformed(given.error());
    const auto changed = people.changePassword(request, *given);
    return changed ? noContent() : replyOf(changed.error());
}

Reply accountReply(int status, const Result<People::Account, PeopleError>& account)
{
    if (!account) return replyOf(account.error());
    return jsonReply(status, [&](storage::JsonText& text) { writeAccount(text, *account); });
}

Reply list(People& people)
{
    const auto accounts = people.list();
    if (!accounts) return replyOf(accounts.error());
    return jsonReply(200, [&](storage::JsonText& text) {
        text.objectsField("people", *accounts,
                          [&](const People::Account& each) { writeAccount(text, each); });
    });
}

Reply add(People& people, const Request& request)
{
    const auto person = readNewPerson(request.body);
    if (!person) return malformed(person.error());
    return accountReply(201, people.add(*person, request.person.name));
}

Reply change(People& people, const Request& request)
{
    const auto read = readPersonChange(request.body);
    if (!read) return malformed(read.error());
    return accountReply(200, people.change(request.path.at("name"), *read, request.person.name));
}

Reply disable(People& people, const Request& request)
{
    PersonChange change;
    change.disabled = true;
    return accountReply(200, people.change(request.path.at("name"), change, request.person.name));
}

}  // namespace

void writeAccount(storage::JsonText& json, const People::Account& account)
{
    json.textField("name", account.name);
    json.textField("role", idOf(account.role));
    json.textField("certificate", account.certificate);
    json.boolField("disabled", account.disabled);
    json.boolField("must_change_password", account.mustChangePassword);
    json.numberField("locked_for_s", (account.lockedForMs + 999) / 1000);
}

std::vector<Route> peopleRoutes(People& people, Sessions& sessions)
{
    const std::vector<Role> administrator{Role::Administrator};
    return {
        {"POST",
         "/api/v1/session",
         Access::Anyone,
         {},
         Owner::Refused,
         [&](const Request& request) { return signIn(people, sessions, request); },
         WorkerPool::CpuBound},
        {"GET",
         "/api/v1/session",
         Access::SignedIn,
         {},
         Owner::Refused,
         [&](const Request& request) { return whoAmI(sessions, request); },
         WorkerPool::Quick,
         true},
        {"DELETE",
         "/api/v1/session",
         Access::SignedIn,
         {},
         Owner::Refused,
         [&](const Request& request) { return signOut(people, request); },
         WorkerPool::Quick,
         true},
        {"PUT",
         "/api/v1/session/password",
         Access::SignedIn,
         {},
         Owner::Refused,
         [&](const Request& request) { return changePassword(people, request); },
         WorkerPool::CpuBound,
         true},
        {"GET", "/api/v1/people", Access::Roles, administrator, Owner::Allowed,
         [&](const Request&) { return list(people); }},
        {"POST", "/api/v1/people", Access::Roles, administrator, Owner::Allowed,
         [&](const Request& request) { return add(people, request); }, WorkerPool::CpuBound},
        {"PATCH", "/api/v1/people/{name}", Access::Roles, administrator, Owner::Allowed,
         [&](const Request& request) { return change(people, request); }, WorkerPool::CpuBound},
        {"DELETE", "/api/v1/people/{name}", Access::Roles, administrator, Owner::Allowed,
         [&](const Request& request) { return disable(people, request); }},
        {"POST", "/api/v1/people/{name}/unlock", Access::Roles, administrator, Owner::Allowed,
         [&](const Request& request) {
             return accountReply(200, people.unlock(request.path.at("name"), request.person.name));
         }},
    };
}

}  // namespace jackpot::console
