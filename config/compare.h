// Which changes of a configuration a running daemon can apply.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace jackpot::config {

struct Changes {
    std::vector<std::string> applied;  // applied without a restart
    std::vector<std::string> refused;  // each with the reason and what to do instead

    [[nodiscard]] bool none() const { return applied.empty() && refused.empty(); }
    bool operator==(const Changes&) const = default;
};

// A sentence for each difference, in the order of the sections. The order of pools, tables, pay
// tables and meters in the file makes no difference.
Changes compare(const Config& running, const Config& wanted);

}  // namespace jackpot::config
