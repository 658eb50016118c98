// jackpotctl login, logout, whoami and users, through the desk; jackpotctl user, on the machine
// itself.
#pragma once

#include <string>
#include <vector>

namespace jackpot::tools {

// `command` is "login", "logout", "whoami", "users" or "user".
int peopleCommand(const std::string& command, const std::vector<std::string>& given);

}  // namespace jackpot::tools
