// The daemon with a self-check that fails. The check of the installed daemon cannot be made to
// fail.
#include "jackpotd/self_check.h"

namespace jackpot {

Result<void> checkRules() { return Error{"the rules are not the approved ones"}; }

}  // namespace jackpot
