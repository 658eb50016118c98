// The decision on a command that a table sends again, read from its record.
#pragma once

#include <string_view>

#include "base/result.h"
#include "link.pb.h"

namespace jackpot {

// Reads this table's part of the decision. A refusal's detail is not journaled and stays empty;
// codes, rules and amounts are those of the first reply. The records of a verified journal can be
// read.
Result<void> readDecision(std::string_view payload, const std::string& table,
                          link::v1::Decision& decision);

}  // namespace jackpot
