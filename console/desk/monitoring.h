// Routes for monitoring: /healthz, /readyz and /metrics.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "console/people/access.h"

namespace jackpot::console {

// Thread-safe and non-blocking. The error messages are public.
struct Monitoring {
    std::function<Result<void>()> alive;   // the daemon makes progress
    std::function<Result<void>()> ready;   // what it decides is durable
    std::function<std::string()> metrics;  // in Prometheus' text format
};

std::vector<Route> monitoringRoutes(const Monitoring& monitoring);

}  // namespace jackpot::console
