// jackpotd: links gaming tables to jackpot pools.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "jackpotd/daemon.h"
#include "jackpotd/log.h"
#include "jackpotd/options.h"
#include "jackpotd/service.h"

namespace jackpot {
namespace {

int refuseToStart(const StartError& error)
{
    std::cerr << "jackpotd: " << error.message << "\n";
    service::setStatus(error.message);
    return error.exitStatus;
}

int refuseToStart(const std::vector<config::ConfigProblem>& problems)
{
    for (const config::ConfigProblem& problem : problems) std::cerr << inWords(problem) << "\n";
    service::setStatus(inWords(problems.front()));
    return kExitCannotStart;
}

int start(const Options& options)
{
    const auto config = config::load(options.config);
    if (!config) return refuseToStart(config.error());
    if (options.checkOnly) {
        std::cout << options.config.string() << ": good: " << config->site.pools.size()
                  << " pools, " << config->site.tables.size() << " tables\n";
        return EXIT_SUCCESS;
    }

    Log log{config->logLevel};
    const auto daemon = Daemon::start(*config, log);
    if (!daemon) return refuseToStart(daemon.error());
    return (*daemon)->run();
}

}  // namespace
}  // namespace jackpot

int main(int count, char** arguments)
{
    return jackpot::runWithOptions({arguments + 1, arguments + count}, JACKPOT_VERSION,
                                   jackpot::start);
}
