// `jackpotctl journal`: what people do to a journal that no daemon has open.
#pragma once

#include <string>
#include <vector>

namespace jackpot::tools {

// Returns the exit status; messages go to standard error.
int journalCommand(const std::vector<std::string>& given);

}  // namespace jackpot::tools
