#include "console/desk/request_parameters.h"

#include <algorithm>

#include "base/encoding.h"
#include "base/utf8.h"
#include "console/search/search_index.h"

namespace jackpot::console {
namespace {

constexpr std::size_t kMaxTextBytes = 200;
constexpr std::size_t kUsualRows = 100;

}  // namespace

std::string nameIn(const Request& request, const std::string& key)
{
    const auto found = request.path.find(key);
    if (found == request.path.end() || found->second.empty() ||
        found->second.size() > kMaxTextBytes || !isUtf8(found->second))
        answer(404, "not_found", "there is no such " + key);
    return found->second;
}

std::int64_t numberIn(const Request& request, const std::string& key)
{
    const auto number = parseDecimal(nameIn(request, key));
    if (!number) answer(404, "not_found", "there is no such " + key + ": it is a number");
    return static_cast<std::int64_t>(*number);
}

std::string textOf(const Request& request, const std::string& key)
{
    const auto found = request.query.find(key);
    if (found == request.query.end()) return {};
    if (found->second.size() > kMaxTextBytes || !isUtf8(found->second))
        answer(400, "bad_query", key + " is too long or not UTF-8");
    return found->second;
}

std::optional<std::int64_t> numberOf(const Request& request, const std::string& key)
{
    const auto found = request.query.find(key);
    if (found == request.query.end() || found->second.empty()) return std::nullopt;
    const auto number = parseDecimal(found->second);
    if (!number) answer(400, "bad_query", key + " is not a whole number");
    return static_cast<std::int64_t>(*number);
}

std::size_t limitOf(const Request& request)
{
    const auto limit = numberOf(request, "limit");
    if (!limit) return kUsualRows;
    if (*limit < 1 || *limit > static_cast<std::int64_t>(kMaxRows))
        answer(400, "bad_query", "limit is not between 1 and " + std::to_string(kMaxRows));
    return static_cast<std::size_t>(*limit);
}

void allowOnly(const Request& request, std::initializer_list<std::string_view> keys)
{
    for (const auto& [key, value] : request.query)
        if (std::ranges::find(keys, key) == keys.end()) {
            std::string known;
            for (const std::string_view each : keys)
                known += (known.empty() ? "" : ", ") + std::string{each};
            answer(400, "bad_query",
                   "a parameter is unknown; it takes " + (known.empty() ? "none" : known));
        }
}

}  // namespace jackpot::console
