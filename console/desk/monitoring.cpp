#include "console/desk/monitoring.h"

namespace jackpot::console {
namespace {

Reply health(const Result<void>& good, std::string_view code)
{
    if (!good) return errorReply(503, code, good.error().message);
    Reply reply;
    reply.body = R"({"status":"ok"})";
    return reply;
}

}  // namespace

std::vector<Route> monitoringRoutes(const Monitoring& monitoring)
{
    return {
        {"GET",
         "/healthz",
         Access::Anyone,
         {},
         Owner::Allowed,
         [alive = monitoring.alive](const Request&) { return health(alive(), "not_alive"); },
         WorkerPool::Monitoring},
        {"GET",
         "/readyz",
         Access::Anyone,
         {},
         Owner::Allowed,
         [ready = monitoring.ready](const Request&) { return health(ready(), "not_ready"); },
         WorkerPool::Monitoring},
        {"GET",
         "/metrics",
         Access::Monitoring,
         {},
         Owner::Allowed,
         [metrics = monitoring.metrics](const Request&) {
             Reply reply;
             reply.contentType = "text/plain; version=0.0.4; charset=utf-8";
             reply.body = metrics();
             return reply;
         },
         WorkerPool::Monitoring},
    };
}

}  // namespace jackpot::console
