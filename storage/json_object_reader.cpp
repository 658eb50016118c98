#include "storage/json_object_reader.h"

#include "base/utf8.h"

namespace jackpot::storage {
namespace {

std::string inQuotes(std::string_view key) { return "\"" + std::string{key} + "\""; }

bool isControl(char32_t point) { return point < 0x20 || (point >= 0x7F && point < 0xA0); }

void checkVisible(std::string_view key, std::string_view text)
{
    bool blank = true;
    while (!text.empty()) {
        const auto point = takeCodePoint(text);
        if (!point) throw BadJson{inQuotes(key) + " is not UTF-8"};
        if (isControl(*point)) throw BadJson{inQuotes(key) + " contains a control character"};
        blank = blank && isSpace(*point);
    }
    if (blank) throw BadJson{inQuotes(key) + " is blank"};
}

}  // namespace

JsonObjectReader::JsonObjectReader(const Json& json) : json_{json}
{
    if (!json.IsObject()) throw BadJson{"a JSON object is expected"};
    std::set<std::string_view> names;
    for (const auto& member : json.GetObject())
        if (!names.insert(viewOf(member.name)).second) throw BadJson{"a key occurs twice"};
}

const Json* JsonObjectReader::optional(std::string_view key)
{
    known_.emplace(key);
    return find(json_, key);
}

const Json& JsonObjectReader::required(std::string_view key)
{
    if (const Json* value = optional(key)) return *value;
    throw BadJson{inQuotes(key) + " is missing"};
}

std::string JsonObjectReader::text(std::string_view key, std::size_t maxBytes)
{
    const Json& value = required(key);
    if (!value.IsString()) throw BadJson{inQuotes(key) + " is not a string"};
    const std::string_view text = viewOf(value);
    if (text.size() > maxBytes)
        throw BadJson{inQuotes(key) + " is longer than " + std::to_string(maxBytes) + " bytes"};
    if (!isUtf8(text)) throw BadJson{inQuotes(key) + " is not UTF-8"};
    return std::string{text};
}

std::optional<std::string> JsonObjectReader::optionalText(std::string_view key,
                                                          std::size_t maxBytes)
{
    if (!has(key)) return std::nullopt;
    return text(key, maxBytes);
}

std::string JsonObjectReader::visibleText(std::string_view key, std::size_t maxBytes)
{
    std::string visible = text(key, maxBytes);
    if (visible.empty()) throw BadJson{inQuotes(key) + " is empty"};
    checkVisible(key, visible);
    return visible;
}

std::optional<bool> JsonObjectReader::optionalFlag(std::string_view key)
{
    const Json* value = optional(key);
    if (!value) return std::nullopt;
    if (!value->IsBool()) throw BadJson{inQuotes(key) + " is not true or false"};
    return value->GetBool();
}

std::int64_t JsonObjectReader::number(std::string_view key, std::int64_t min, std::int64_t max)
{
    const Json& value = required(key);
    if (!value.IsInt64()) throw BadJson{inQuotes(key) + " is not a whole number"};
    if (value.GetInt64() < min || value.GetInt64() > max)
        throw BadJson{inQuotes(key) + " is not between " + std::to_string(min) + " and " +
                      std::to_string(max)};
    return value.GetInt64();
}

void JsonObjectReader::finish() const
{
    std::string allowed;
    for (const std::string& key : known_) allowed += (allowed.empty() ? "" : ", ") + inQuotes(key);
    for (const auto& member : json_.GetObject())
        if (!known_.contains(viewOf(member.name)))
            throw BadJson{"unknown key; allowed: " + (allowed.empty() ? "none" : allowed)};
}

const Json& checkedList(const Json& json, std::string_view name, std::size_t maxSize)
{
    if (!json.IsArray() || json.Size() > maxSize)
        throw BadJson{std::string{name} + " is not a list of at most " + std::to_string(maxSize)};
    return json;
}

Result<rapidjson::Document> parseUntrustedJson(std::string_view text)
{
    if (text.size() > kMaxJsonObjectBytes)
        return Error{"the JSON text is longer than " + std::to_string(kMaxJsonObjectBytes) +
                     " bytes"};
    rapidjson::Document json;
    json.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(text.data(),
                                                                                       text.size());
    if (json.HasParseError()) return Error{"the JSON text is not well-formed"};
    return json;
}

}  // namespace jackpot::storage
