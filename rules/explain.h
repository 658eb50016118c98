// Outcomes in words that an auditor can follow.
#pragma once

#include <string>
#include <vector>

#include "rules/outcome.h"
#include "rules/site.h"

namespace jackpot::rules {

// "pool B7 adjusted by $5.00: meter was read wrongly, by Ann and Bob"
std::string commandInWords(const Command& command);

// "10 % of $500,000.00 = $50,000.00, then 10 % of $450,000.00 = $45,000.00; $95,000.00 shared by 2"
std::string arithmeticInWords(const Award& award);

// Each that the pool has, in words: "minimum", "$50,000.00".
struct NamedParameter {
    std::string name;
    std::string value;
};
std::vector<NamedParameter> parametersByName(const PoolParameters& parameters);
// "increment 0.2, minimum $50,000.00, payout unit $0.01, window 2000 ms"
std::string parametersInWords(const PoolParameters& parameters);
// Only what changes: "minimum $50,000.00 -> $25,000.00, cap none -> $90,000.00"
std::string changeInWords(const PoolParameters& from, const PoolParameters& to);

}  // namespace jackpot::rules
