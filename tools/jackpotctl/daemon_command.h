// jackpotctl reload, status, meters, change-pool: asks the running daemon over its control socket.
#pragma once

#include <string>
#include <vector>

namespace jackpot::tools {

// `command` is "reload", "status", "meters" or "change-pool".
int daemonCommand(const std::string& command, const std::vector<std::string>& given);

}  // namespace jackpot::tools
