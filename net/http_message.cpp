#include "net/http_message.h"

#include <openssl/crypto.h>

#include "base/json_string.h"

namespace jackpot::net {

std::string_view RequestHead::header(const std::string& name) const
{
    const auto at = headers.find(name);
    return at == headers.end() ? std::string_view{} : at->second;
}

Request::~Request()
{
    // A move leaves the bytes of a short body behind.
    body.resize(body.capacity());
    OPENSSL_cleanse(body.data(), body.size());
}

Reply errorReply(int status, std::string_view code, std::string_view message)
{
    Reply reply;
    reply.status = status;
    reply.body = R"({"error":{"code":)";
    appendJsonString(reply.body, code);
    reply.body += R"(,"message":)";
    appendJsonString(reply.body, message);
    reply.body += "}}";
    return reply;
}

}  // namespace jackpot::net
