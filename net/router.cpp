#include "net/router.h"

#include <algorithm>

#include "net/http_parser.h"

namespace jackpot::net {
namespace {

bool isParameter(std::string_view segment) { return segment.starts_with('{'); }

}  // namespace

Router::Router(std::vector<Route> routes, std::string notFound)
    : routes_{std::move(routes)}, notFound_{std::move(notFound)}
{
    // A literal segment wins over a parameter, whatever the order of the table.
    std::ranges::stable_sort(
        routes_, {}, [](const Route& route) { return std::ranges::count(route.pattern, '{'); });
    for (const Route& route : routes_) segments_.push_back(split(route.pattern, '/'));
}

Result<Router::Match, Reply> Router::find(std::string_view method, std::string_view path) const
{
    const auto encoded = split(path, '/');
    std::vector<std::string> decoded;
    for (const std::string_view segment : encoded) {
        auto plain = percentDecode(segment, false);
        if (!plain)
            return errorReply(400, "malformed_request", "the path is not percent-encoded UTF-8");
        decoded.push_back(std::move(*plain));
    }
    const std::string_view wanted = method == "HEAD" ? "GET" : method;
    std::vector<std::string_view> allowed;
    for (std::size_t i = 0; i < routes_.size(); ++i) {
        const auto& pattern = segments_[i];
        const bool matches =
            pattern.size() == encoded.size() &&
            std::ranges::equal(pattern, decoded, [](auto expected, const auto& given) {
                return isParameter(expected) ? !given.empty() : expected == given;
            });
        if (!matches) continue;
        if (routes_[i].method != wanted) {
            allowed.push_back(routes_[i].method);
            continue;
        }
        Match match{&routes_[i], {}};
        for (std::size_t j = 0; j < pattern.size(); ++j)
            if (isParameter(pattern[j]))
                match.path[std::string{pattern[j].substr(1, pattern[j].size() - 2)}] = decoded[j];
        return match;
    }
    if (allowed.empty()) return errorReply(404, "not_found", notFound_);
    if (std::ranges::find(allowed, "GET") != allowed.end()) allowed.emplace_back("HEAD");
    allowed.emplace_back("OPTIONS");
    std::string list;
    for (const std::string_view each : allowed)
        list += (list.empty() ? "" : ", ") + std::string{each};
    Reply reply = errorReply(405, "method_not_allowed", "this path allows " + list);
    if (method == "OPTIONS") {
        reply.status = 204;
        reply.body.clear();
    }
    reply.headers["Allow"] = list;
    return reply;
}

}  // namespace jackpot::net
