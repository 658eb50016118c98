// jackpotctl completion bash: what a shell needs to complete the commands.
#pragma once

#include <string>
#include <vector>

namespace jackpot::tools {

int completionCommand(const std::vector<std::string>& given);

}  // namespace jackpot::tools
