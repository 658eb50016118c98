#include "console/search/proposal.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <array>

#include "storage/command_json.h"
#include "storage/json_read.h"
#include "storage/json_text.h"
#include "storage/sha256.h"

namespace jackpot::console {

std::string proposedText(const rules::Command& command)
{
    std::string text;
    storage::JsonText json{text};
    json.beginObject();
    json.textField("kind", kindOf(command));
    json.key("command");
    storage::writeCommand(json, command);
    json.endObject();
    return text;
}

Result<rules::Command> readProposed(std::string_view text)
{
    rapidjson::Document json;
    json.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
    if (json.HasParseError()) return Error{"the proposed command is not well-formed JSON"};
    return readProposed(json);
}

Result<rules::Command> readProposed(const rapidjson::Value& json)
{
    try {
        return storage::readCommand(storage::textAt(json, "kind"), storage::at(json, "command"));
    } catch (const storage::BadJson& error) {
        return Error{error.what()};
    }
}

std::string proposedHash(std::string_view text) { return storage::sha256({text}).hex(); }

rules::Command withSecondPerson(rules::Command command, const std::string& second)
{
    std::visit(
        [&](auto& each) {
            if constexpr (requires { each.by; }) each.by.push_back(second);
        },
        command);
    return command;
}

bool mayNeedTwoPeople(std::string_view kind)
{
    static constexpr std::array<std::string_view, 8> kKinds{
        "pool_adjusted",    "pool_change_agreed", "award_withheld", "award_released",
        "payment_recorded", "round_voided",       "wager_voided",   "result_corrected"};
    return std::ranges::find(kKinds, kind) != kKinds.end();
}

}  // namespace jackpot::console
