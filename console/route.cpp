#include "console/route.h"

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

Reply refusal(int status, std::string_view code, std::string_view message)
{
    Reply reply;
    reply.status = status;
    storage::JsonText json{reply.body};
    json.beginObject();
    json.key("error");
    json.beginObject();
    json.textField("code", code);
    json.textField("message", message);
    json.endObject();
    json.endObject();
    return reply;
}

}  // namespace jackpot::console
