// The command line of jackpotd.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace jackpot {

struct Options {
    std::filesystem::path config = "/etc/jackpotd/jackpotd.toml";
    bool checkOnly = false;
};

// Prints help, the version or an error of the command line; else calls `start`. Returns the exit
// status, which is kExitFault for an exception.
int runWithOptions(const std::vector<std::string>& arguments, const std::string& version,
                   const std::function<int(const Options&)>& start);

}  // namespace jackpot
