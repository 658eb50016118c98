// A pool's history as a drawing: SVG within HTML, without scripts.
#pragma once

#include <string>

#include "audit/history.h"
#include "audit/html.h"

namespace jackpot::audit {

// `number` tells the drawings of a page apart. The pool has points.
void drawChart(Html& html, std::int64_t number, const std::string& id, const PoolHistory& pool,
               const History& history, const Period& period);

}  // namespace jackpot::audit
