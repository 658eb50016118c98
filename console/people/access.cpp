#include "console/people/access.h"

#include "storage/json_text.h"

namespace jackpot::console {

std::string_view idOf(Role role)
{
    switch (role) {
        case Role::Supervisor: return "supervisor";
        case Role::Surveillance: return "surveillance";
        case Role::Auditor: return "auditor";
        case Role::Inspector: return "inspector";
        case Role::Administrator: return "administrator";
    }
    return "";
}

std::optional<Role> roleOfId(std::string_view id)
{
    for (const Role role : kRoles)
        if (idOf(role) == id) return role;
    return std::nullopt;
}

std::string toJson(const std::vector<Route>& routes)
{
    std::string text;
    storage::JsonText json{text};
    json.beginArray();
    for (const Route& route : routes) {
        json.beginObject();
        json.textField("method", route.method);
        json.textField("pattern", route.pattern);
        json.textField("access", route.access == Access::Anyone       ? "anyone"
                                 : route.access == Access::Monitoring ? "monitoring"
                                 : route.access == Access::SignedIn   ? "signed_in"
                                                                      : "roles");
        json.key("roles");
        json.beginArray();
        for (const Role role : route.roles) json.text(idOf(role));
        json.endArray();
        json.boolField("owner", route.owner == Owner::Allowed);
        json.endObject();
    }
    json.endArray();
    return text;
}

}  // namespace jackpot::console
