// A scenario for `jackpotctl simulate`: a site, what happens on it, read from JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/commands.h"
#include "rules/site.h"

namespace jackpot::ctl {

struct ScenarioEvent {
    rules::TimeMs atMs = 0;
    std::string type;
    std::optional<rules::Command> command;  // none where the type is unknown
    // Both boards that a result may have; the table's game decides which one counts.
    std::vector<std::string> dealer;
    std::vector<std::string> flop;
};

struct Scenario {
    std::string name;
    rules::Site site;
    std::vector<ScenarioEvent> events;
};

// One line for each thing wrong, each with its place.
struct ScenarioErrors {
    std::vector<std::string> lines;
};

Result<Scenario, ScenarioErrors> readScenario(std::string_view json);

}  // namespace jackpot::ctl
