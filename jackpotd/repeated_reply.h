// The answer to a command that was decided before, read back from its record.
#pragma once

#include <string_view>

#include "base/result.h"
#include "link.pb.h"

namespace jackpot {

// What the record says of this table. Words for people (a refusal's detail) are not journaled and
// stay empty; codes, rules and amounts are the same. Throws storage::BadJson where it cannot be
// read, which a journal that was verified never gives.
void readDecision(std::string_view payload, const std::string& table, link::v1::Decision& decision);

}  // namespace jackpot
