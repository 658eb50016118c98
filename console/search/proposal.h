// Proposals: commands that need two people. The proposal is an event in the journal; the command is
// decided when the second person has approved exactly this command. Pure; any thread.
#pragma once

#include <rapidjson/fwd.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rules/commands.h"

namespace jackpot::console {

// {"kind":"pool_adjusted","command":{...}}: the value of "proposed" in the event, byte for byte.
// The second person approves its hash. The command names the first person only.
std::string proposedText(const rules::Command& command);
Result<rules::Command> readProposed(std::string_view text);
Result<rules::Command> readProposed(const rapidjson::Value& json);
std::string proposedHash(std::string_view text);  // SHA-256 in hex

// The command with both people's names.
rules::Command withSecondPerson(rules::Command command, const std::string& second);

// True if commands of this kind can need two people.
bool mayNeedTwoPeople(std::string_view kind);

}  // namespace jackpot::console
