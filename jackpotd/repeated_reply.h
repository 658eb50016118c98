// The decision on a command that a table sends again, read from its record.
#pragma once

#include <string>
#include <string_view>

#include "linkproto/server/link_messages.h"

namespace jackpot {

// Reads this table's part of the decision; its number is left to the caller. A refusal's detail is
// not journaled and stays empty; codes, rules and amounts are those of the first reply. Throws
// storage::BadJson if the record can't be read, which never happens with a verified journal.
linkproto::Decision readDecision(std::string_view payload, const std::string& table);

}  // namespace jackpot
