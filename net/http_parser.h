// The text of HTTP/1.1 (RFC 9112), without sockets: bytes in, a request head or the error reply
// out. Ambiguous input is rejected. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http_message.h"

namespace jackpot::net {

inline constexpr std::size_t kMaxHeadBytes = 16U << 10U;
inline constexpr std::size_t kMaxHeaders = 64;
inline constexpr std::size_t kMaxBodyBytes = 64U << 10U;
inline constexpr std::size_t kMaxQueryFields = 64;

// The size of the head at the start of these bytes, with its blank line; nothing if it is
// incomplete.
std::optional<std::size_t> endOfHead(std::string_view bytes);

// Parses a complete head. The error is the reply to send before the connection is closed. A body
// must be of the content type `bodyType`; if that is empty, of any.
Result<RequestHead, Reply> parseRequestHead(std::string_view bytes,
                                            std::string_view bodyType = "application/json");

// "%2F" to "/". Nothing if the text is malformed, not UTF-8 or has control characters.
std::optional<std::string> percentDecode(std::string_view text, bool plusIsSpace);
std::optional<std::map<std::string, std::string>> parseQuery(std::string_view query);
// Empty if the Cookie header has no such cookie.
std::string_view cookieValue(std::string_view header, std::string_view name);
std::vector<std::string_view> split(std::string_view text, char separator);

// Status line and headers, with the headers that protect browsers unless the reply sets others.
std::string formatReplyHead(const Reply& reply, bool keepAlive);

}  // namespace jackpot::net
