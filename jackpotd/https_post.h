// One question over HTTPS, on a connection of its own, within a time that the other side cannot
// stretch; only the system's lookup of a name has its own.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "net/tls.h"

namespace jackpot {

struct HttpsAnswer {
    int status = 0;
    std::string body;  // what came of it, at most kMaxHttpsAnswerBytes with its head
};
inline constexpr std::size_t kMaxHttpsAnswerBytes = 16U * 1024U;

// POSTs `body` as plain text to `url` ("https://HOST:PORT/PATH") followed by `path`. The
// certificate must be for that host and by the context's authority. Ends early when told to stop.
Result<HttpsAnswer> httpsPost(const std::string& url, const std::string& path,
                              const net::TlsContext& tls, const std::string& body,
                              std::chrono::milliseconds patience, const std::stop_token& stop);

}  // namespace jackpot
