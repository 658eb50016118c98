// Reading what the journal itself wrote: any departure from the form is an error, never a default.
#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rules/money.h"

namespace jackpot::storage {

// Thrown inside a reader and turned into an Error at the edge of the function that reads a whole
// value.
class BadJson : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

using Json = rapidjson::Value;

inline std::string_view viewOf(const Json& json)
{
    return {json.GetString(), json.GetStringLength()};
}

inline const Json* find(const Json& object, std::string_view key)
{
    if (!object.IsObject())
        throw BadJson{"an object is missing around \"" + std::string{key} + "\""};
    for (const auto& member : object.GetObject())
        if (viewOf(member.name) == key) return &member.value;
    return nullptr;
}

inline const Json& at(const Json& object, std::string_view key)
{
    if (const Json* value = find(object, key)) return *value;
    throw BadJson{"\"" + std::string{key} + "\" is missing"};
}

inline std::string_view textAt(const Json& object, std::string_view key)
{
    const Json& value = at(object, key);
    if (!value.IsString()) throw BadJson{"\"" + std::string{key} + "\" is not a string"};
    return viewOf(value);
}

inline std::string textOr(const Json& object, std::string_view key)
{
    const Json* value = find(object, key);
    if (!value) return {};
    if (!value->IsString()) throw BadJson{"\"" + std::string{key} + "\" is not a string"};
    return std::string{viewOf(*value)};
}

inline std::int64_t numberAt(const Json& object, std::string_view key)
{
    const Json& value = at(object, key);
    if (!value.IsInt64()) throw BadJson{"\"" + std::string{key} + "\" is not a whole number"};
    return value.GetInt64();
}

inline bool flagAt(const Json& object, std::string_view key)
{
    const Json* value = find(object, key);
    if (!value) return false;
    if (!value->IsBool()) throw BadJson{"\"" + std::string{key} + "\" is not true or false"};
    return value->GetBool();
}

inline const Json& arrayAt(const Json& object, std::string_view key)
{
    const Json& value = at(object, key);
    if (!value.IsArray()) throw BadJson{"\"" + std::string{key} + "\" is not a list"};
    return value;
}

inline std::vector<std::string> textsAt(const Json& object, std::string_view key)
{
    std::vector<std::string> texts;
    for (const Json& each : arrayAt(object, key).GetArray()) {
        if (!each.IsString())
            throw BadJson{"\"" + std::string{key} + "\" holds what is not a string"};
        texts.emplace_back(viewOf(each));
    }
    return texts;
}

inline std::vector<std::int64_t> numbersAt(const Json& object, std::string_view key)
{
    std::vector<std::int64_t> numbers;
    for (const Json& each : arrayAt(object, key).GetArray()) {
        if (!each.IsInt64())
            throw BadJson{"\"" + std::string{key} + "\" holds what is not a whole number"};
        numbers.push_back(each.GetInt64());
    }
    return numbers;
}

// Exactly eight decimals, any amount that fits 64 bits: totals can pass what a command may name.
rules::Money moneyIn(std::string_view text);

inline rules::Money moneyAt(const Json& object, std::string_view key)
{
    return moneyIn(textAt(object, key));
}

}  // namespace jackpot::storage
