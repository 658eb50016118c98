// The self-check before the daemon serves anyone.
#pragma once

#include "base/result.h"

namespace jackpot {

// Checks that the rules give the amounts of the rule documents' own examples.
Result<void> checkRules();

}  // namespace jackpot
