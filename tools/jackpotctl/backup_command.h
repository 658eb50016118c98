// jackpotctl backup and jackpotctl restore.
#pragma once

#include <string>
#include <vector>

namespace jackpot::tools {

int backupCommand(const std::string& command, const std::vector<std::string>& given);

}  // namespace jackpot::tools
