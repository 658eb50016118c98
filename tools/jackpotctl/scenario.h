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
    // Whose board a result has: a dealer's card is Blazing 7's, a flop UTH's.
    std::optional<rules::Game> boardOf;
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
