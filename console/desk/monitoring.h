// What those ask who watch over the daemon: whether it is alive, whether it is ready, and its
// figures.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "console/people/access.h"

namespace jackpot::console {

// Any thread's; none of them waits for anything. What an error says is for anyone to hear.
struct Monitoring {
    std::function<Result<void>()> alive;   // the daemon makes progress
    std::function<Result<void>()> ready;   // what it decides is durable
    std::function<std::string()> metrics;  // in Prometheus' text format
};

std::vector<Route> monitoringRoutes(const Monitoring& monitoring);

}  // namespace jackpot::console
