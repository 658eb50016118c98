#include "console/desk/request_parameters.h"

#include <algorithm>

#include "base/encoding.h"
#include "base/utf8.h"
#include "console/search/search_index.h"

namespace jackpot::console {
namespace {

constexpr std::size_t kMaxTextBytes = 200;
constexpr std::size_t kDefaultRows = 100;

}  // namespace

std::string pathText(const Request& request, const std::string& key)
{
    const auto found = request.path.find(key);
    if (found == request.path.end() || found->second.empty() ||
        found->second.size() > kMaxTextBytes || !isUtf8(found->second))
        throwHttpError(404, "not_found", "there is no such " + key);
    return found->second;
}

std::int64_t pathNumber(const Request& request, const std::string& key)
{
    const auto number = parseDecimal(pathText(request, key));
    if (!number) throwHttpError(404, "not_found", key + " is not a number");
    return static_cast<std::int64_t>(*number);
}

std::string queryText(const Request& request, const std::string& key)
{
    const auto found = request.query.find(key);
    if (found == request.query.end()) return {};
    if (found->second.size() > kMaxTextBytes || !isUtf8(found->second))
        throwHttpError(400, "bad_query", key + " is longer than 200 bytes or not UTF-8");
    return found->second;
}

std::optional<std::int64_t> queryNumber(const Request& request, const std::string& key)
{
    const auto found = request.query.find(key);
    if (found == request.query.end() || found->second.empty()) return std::nullopt;
    const auto number = parseDecimal(found->second);
    if (!number) throwHttpError(400, "bad_query", key + " is not a whole number");
    return static_cast<std::int64_t>(*number);
}

std::optional<bool> queryFlag(const Request& request, const std::string& key)
{
    const std::string text = queryText(request, key);
    if (text.empty()) return std::nullopt;
    if (text != "true" && text != "false")
        throwHttpError(400, "bad_query", key + " is not true or false");
    return text == "true";
}

std::size_t queryLimit(const Request& request)
{
    const auto limit = queryNumber(request, "limit");
    if (!limit) return kDefaultRows;
    if (*limit < 1 || *limit > static_cast<std::int64_t>(kMaxRows))
        throwHttpError(400, "bad_query", "limit is not between 1 and " + std::to_string(kMaxRows));
    return static_cast<std::size_t>(*limit);
}

void allowOnlyParameters(const Request& request, std::initializer_list<std::string_view> keys)
{
    for (const auto& [key, value] : request.query)
        if (std::ranges::find(keys, key) == keys.end()) {
            std::string known;
            for (const std::string_view each : keys)
                known += (known.empty() ? "" : ", ") + std::string{each};
            throwHttpError(400, "bad_query",
                           "unknown query parameter; allowed: " + (known.empty() ? "none" : known));
        }
}

}  // namespace jackpot::console
