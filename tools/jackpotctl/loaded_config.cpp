#include "tools/jackpotctl/loaded_config.h"

#include "tools/cli/command_error.h"

namespace jackpot::ctl {

config::Config loadedConfig(const std::filesystem::path& file)
{
    auto config = config::load(file);
    if (config) return std::move(*config);
    std::string problems;
    for (const config::ConfigProblem& problem : config.error())
        problems += (problems.empty() ? "" : "\n") + inWords(problem);
    throw cli::CommandError{cli::kBadInput, problems};
}

}  // namespace jackpot::ctl
