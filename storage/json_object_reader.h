// Strict reader for a JSON object from outside, such as the body of a request. Unlike json_read.h,
// which reads what the journal itself wrote, it bounds every value and rejects unknown keys. Pure;
// any thread.
#pragma once

#include <rapidjson/document.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "storage/json_read.h"

namespace jackpot::storage {

// Borrows the object. Every member function throws BadJson if the object or a value is invalid;
// readJsonObject() turns that into an Error.
class JsonObjectReader {
public:
    // Rejects anything but an object whose keys are all different.
    explicit JsonObjectReader(const Json& json);

    // Null if the key is absent.
    const Json* optional(std::string_view key);
    const Json& required(std::string_view key);
    [[nodiscard]] bool has(std::string_view key) { return optional(key) != nullptr; }

    // UTF-8 of at most `maxBytes`; may be empty.
    std::string text(std::string_view key, std::size_t maxBytes);
    std::optional<std::string> optionalText(std::string_view key, std::size_t maxBytes);
    // UTF-8 of at most `maxBytes`, without control characters, and not only white space.
    std::string visibleText(std::string_view key, std::size_t maxBytes);
    std::optional<bool> optionalFlag(std::string_view key);
    std::int64_t number(std::string_view key, std::int64_t min, std::int64_t max);

    // Call after the last key has been read: rejects every key that was not asked for.
    void finish() const;

private:
    const Json& json_;
    std::set<std::string, std::less<>> known_;
};

// A list of at most `maxSize` values; `name` is its name in the error.
const Json& checkedList(const Json& json, std::string_view name, std::size_t maxSize);

inline constexpr std::size_t kMaxJsonObjectBytes = 64U << 10U;

// Parses at most kMaxJsonObjectBytes. Nesting is not limited: the parser is iterative.
Result<rapidjson::Document> parseUntrustedJson(std::string_view text);

// Parses `text`, calls `read` with a JsonObjectReader and checks that every key was read.
template <class Read>
auto readJsonObject(std::string_view text, Read&& read)
    -> Result<decltype(read(std::declval<JsonObjectReader&>()))>
{
    const auto json = parseUntrustedJson(text);
    if (!json) return json.error();
    try {
        JsonObjectReader reader{*json};
        auto value = read(reader);
        reader.finish();
        return value;
    } catch (const BadJson& error) {
        return Error{error.what()};
    }
}

}  // namespace jackpot::storage
