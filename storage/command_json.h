// Commands and site configurations as JSON, in the form of the journal (docs/journal-format.md).
#pragma once

#include <rapidjson/fwd.h>

#include <string_view>

#include "base/result.h"
#include "rules/commands.h"
#include "storage/json_text.h"

namespace jackpot::storage {

// The value of the record's "command".
void writeCommand(JsonText& json, const rules::Command& command);

// The command of that kind ("round_opened"). It need not be one that the rules accept.
Result<rules::Command> readCommand(std::string_view kind, const rapidjson::Value& json);

// Whether records of this kind hold a command of the rules.
bool isCommandKind(std::string_view kind);

// A pool's parameters, an object; in a site's pool its opening amount stands among them.
void writeParameters(JsonText& json, const rules::PoolParameters& parameters);
// Throws BadJson.
rules::PoolParameters readParameters(const rapidjson::Value& json);

void writeSite(JsonText& json, const rules::Site& site);
Result<rules::Site> readSite(const rapidjson::Value& json);

}  // namespace jackpot::storage
