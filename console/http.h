// HTTP/1.1 as the desk speaks it (RFC 9112), without sockets: bytes of a head in, a head or the
// refusal out. Whatever is ambiguous is refused. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "console/route.h"

namespace jackpot::console {

inline constexpr std::size_t kMaxHeadBytes = 16U << 10U;
inline constexpr std::size_t kMaxHeaders = 64;
inline constexpr std::size_t kMaxBodyBytes = 64U << 10U;
inline constexpr std::size_t kMaxQueryFields = 64;

struct Head {
    std::string method;
    std::string path;                            // as sent, still encoded
    std::string query;                           // the same, without the question mark
    std::map<std::string, std::string> headers;  // names in lower case
    std::size_t bodyBytes = 0;
    bool keepAlive = true;
    bool expectsContinue = false;

    [[nodiscard]] std::string_view header(const std::string& name) const;
};

// Where the head of these bytes ends, its blank line included; nothing where more must come.
std::optional<std::size_t> endOfHead(std::string_view bytes);

// Of a whole head. The error is the reply, after which the connection is closed.
// Bodies are of `bodyType`; of any where it is empty.
Result<Head, Reply> parseHead(std::string_view bytes,
                              std::string_view bodyType = "application/json");

// "%2F" to "/". Nothing where it is malformed, not UTF-8 or holds control characters.
std::optional<std::string> percentDecoded(std::string_view text, bool plusIsSpace);
std::optional<std::map<std::string, std::string>> parseQuery(std::string_view query);
// The value of the cookie; empty where there is none.
std::string_view cookieOf(std::string_view header, std::string_view name);

// The routes, ready to be searched. Borrows nothing; what find() gives lives as long as it.
class Router {
public:
    explicit Router(std::vector<Route> routes);

    struct Found {
        const Route* route = nullptr;
        std::map<std::string, std::string> path;
    };
    // HEAD finds what GET does. The error is a 400, 404 or 405; OPTIONS is answered as one, with
    // 204.
    [[nodiscard]] Result<Found, Reply> find(std::string_view method, std::string_view path) const;
    [[nodiscard]] const std::vector<Route>& routes() const { return routes_; }

private:
    std::vector<Route> routes_;
    std::vector<std::vector<std::string_view>> segments_;  // of each pattern
};

// Status line and headers, with what protects a browser unless the reply says otherwise.
std::string headOf(const Reply& reply, bool keepAlive);
std::string_view reasonOf(int status);

}  // namespace jackpot::console
