// A pool's reading as JSON, for the feed, the wall sign and the routes that show a pool.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "meters/published_readings.h"

namespace jackpot {

std::string readingJson(const meters::PoolReading& reading, const meters::PoolStatus& status);
// As of now; nothing if no such pool is published.
std::optional<std::string> readingJson(const meters::PublishedReadings& readings,
                                       std::string_view pool);

}  // namespace jackpot
