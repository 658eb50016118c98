#pragma once

#include "console/people/access.h"
#include "storage/json_text.h"

namespace jackpot::console {

// A reply with one JSON object, whose fields `write` writes.
template <class Write>
Reply jsonReply(int status, Write&& write)
{
    Reply reply;
    reply.status = status;
    storage::JsonText json{reply.body};
    json.beginObject();
    write(json);
    json.endObject();
    return reply;
}

}  // namespace jackpot::console
