// A command that takes two people, on its way from the first to the second. The proposal is a plain
// record of the journal; the command is decided when the second has approved exactly it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rules/commands.h"

namespace jackpot::console {

// {"kind":"pool_adjusted","command":{...}}: what the record has as "proposed", byte for byte, and
// what the second person's hash is of. The command names the first person alone.
std::string proposedText(const rules::Command& command);
Result<rules::Command> readProposed(std::string_view text);
std::string proposedHash(std::string_view text);  // SHA-256 in hex

// The command with the second person's name beside the first's. A payment has one text for who
// recorded it, and gets "first, second".
rules::Command withSecond(rules::Command command, const std::string& second);

// Whether commands of this kind are proposed; of payments, the larger ones.
bool kindTakesTwo(std::string_view kind);

}  // namespace jackpot::console
