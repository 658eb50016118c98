// jackpotctl simulate.
#include <fstream>
#include <iostream>
#include <memory>

#include "base/printable.h"
#include "tools/cli/command_error.h"
#include "tools/jackpotctl/commands.h"
#include "tools/jackpotctl/scenario.h"
#include "tools/jackpotctl/simulate.h"

namespace jackpot::ctl {
namespace {

constexpr std::size_t kMaxScenarioBytes = 64U << 20U;

struct SimulateOptions {
    std::string file;
    bool explain = false;
};

std::string readAll(const std::string& path)
{
    const auto fail = [&](const std::string& what) {
        return cli::CommandError{cli::kBadInput, path + ": " + what};
    };
    std::ifstream file;
    if (path != "-") {
        file.open(path, std::ios::binary);
        if (!file) throw fail("cannot be opened: check the name and its permissions");
    }
    std::istream& in = path == "-" ? std::cin : file;
    std::string text;
    std::vector<char> chunk(1U << 16U);
    while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
        text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
        if (text.size() > kMaxScenarioBytes)
            throw fail("larger than " + std::to_string(kMaxScenarioBytes >> 20U) +
                       " MiB: split the scenario");
    }
    if (in.bad()) throw fail("cannot be read");
    return text;
}

int runScenario(const SimulateOptions& options)
{
    const auto scenario = readScenario(readAll(options.file));
    if (!scenario) {
        for (const std::string& line : scenario.error().lines)
            std::cerr << printable(options.file + ": " + line) << "\n";
        return cli::kBadInput;
    }
    std::cout << (options.explain ? simulateToAccount(*scenario) : simulateToJson(*scenario));
    return cli::kSuccess;
}

}  // namespace

void addSimulate(cli::Command& program)
{
    auto options = std::make_shared<SimulateOptions>();
    program.add("simulate", "run a scenario through the rules")
        .describe(
            "Reads pools, tables and events from FILE and prints what would be paid, in the order "
            "of "
            "payment, what would be returned or refused, and the pools afterwards. It uses the "
            "same "
            "rules, settlement and accounting as the daemon, with virtual time, and changes "
            "nothing. "
            "docs/scenarios.md describes the format.")
        .argument("FILE", options->file, "a scenario in JSON; - is standard input")
        .flag(
            "--explain", options->explain,
            "print an account for people: each event, its effect on the pool, each award with its "
            "rule and arithmetic")
        .exitStatuses(
            {{0, "the scenario was run; refused events are part of its outcome"},
             {2,
              "the scenario is not well formed or its site breaks a rule: nothing was run, "
              "and standard error names the place and the rule; or the command line or the "
              "file cannot be read"}})
        .run([options] { return runScenario(*options); });
}

}  // namespace jackpot::ctl
