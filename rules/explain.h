// Outcomes in words that an auditor can follow.
#pragma once

#include <string>

#include "rules/outcome.h"

namespace jackpot::rules {

// "10 % of $500,000.00 = $50,000.00, then 10 % of $450,000.00 = $45,000.00; $95,000.00 shared by 2"
std::string arithmeticInWords(const Award& award);

}  // namespace jackpot::rules
