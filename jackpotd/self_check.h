// What must hold before anyone is let in: the rules give what the rule documents' own examples
// give.
#pragma once

#include <string>

namespace jackpot {

// What does not hold, or nothing. Configuration, journal and key have been checked by then: by
// loading, opening and signing.
std::string findRulesFault();

}  // namespace jackpot
