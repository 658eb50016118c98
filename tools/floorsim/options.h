// The command line of floorsim.
#pragma once

#include <functional>
#include <string>

#include "tools/cli/command_line.h"
#include "tools/floorsim/run.h"

namespace jackpot::floorsim {

struct FloorOptions {
    FloorSettings settings;
    bool live = false;
    std::string caption;  // shown below the live screen
    bool json = false;
    bool quiet = false;
};

// Declares the options. `play` is called with their values. A UsageError or CommandError if they
// cannot be used.
void declareCommandLine(cli::Command& program, std::function<int(const FloorOptions&)> play);

}  // namespace jackpot::floorsim
