// One entry of an HTTP server's route table.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http_message.h"

namespace jackpot::net {

// On which threads a handler runs (worker_pools.h).
enum class WorkerPool : std::uint8_t {
    Quick,
    CpuBound,    // a bounded queue, two threads of the lowest priority
    Monitoring,  // a thread of its own: answers while all others wait
};

using Handler = std::function<Reply(Request request)>;

struct Authorized {
    Handler handle;
    // An event stream is closed once this returns false. Unset: the client is anonymous, and the
    // stream has no such end.
    std::function<bool()> isStillAuthorized{};
};

struct Client {
    std::string address;             // "10.1.2.3", or "local"
    std::optional<uid_t> localUser;  // of the process, if it uses the Unix socket
};

// Decides about a request before its body is read: the handler to run, or the reply that rejects
// it. The server's thread calls it, so it must not block.
using Authorize =
    std::function<Result<Authorized, Reply>(const RequestHead& head, const Client& client)>;

// The server reaches a handler only through `authorize`.
struct Route {
    std::string_view method;   // "GET", "POST", "PUT", "DELETE"
    std::string_view pattern;  // "/api/v1/claims/{table}/{round}"
    Authorize authorize;
    WorkerPool pool = WorkerPool::Quick;
};

// A route that anyone may use.
inline Route publicRoute(std::string_view method, std::string_view pattern, Handler handle)
{
    return {method, pattern, [handle = std::move(handle)](const RequestHead&, const Client&) {
                return Result<Authorized, Reply>{Authorized{handle}};
            }};
}

}  // namespace jackpot::net
