// `jackpotctl pki`: the site's own certificate authority.
#pragma once

#include <string>
#include <vector>

namespace jackpot::tools {

// Returns the exit status; messages go to standard error.
int pkiCommand(const std::vector<std::string>& given);

}  // namespace jackpot::tools
