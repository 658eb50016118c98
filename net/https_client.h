// A client on POCO for HTTPS, and for HTTP on a Unix socket of this machine, with a connection of
// its own for each request. Any thread; SIGPIPE must be ignored.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace jackpot::net {

struct HttpsClientSettings {
    std::string url{};                    // "https://HOST[:PORT][/PATH]"
    std::filesystem::path localSocket{};  // if set, HTTP on this socket instead of HTTPS
    std::filesystem::path ca{};           // empty: the authorities of the system
    std::filesystem::path certificate{};  // of the client; empty for none
    std::filesystem::path key{};          // of that certificate
    // Of a whole request. The server cannot extend it; only looking up the host's name is extra.
    std::chrono::milliseconds timeout{30'000};
    std::size_t maxReplyBytes = 64U << 10U;
    bool requiresTls13 = false;  // otherwise TLS 1.2 is accepted too
};

struct HttpsRequest {
    std::string method = "GET";
    std::string path{};  // added to the path of the URL
    std::string body{};
    std::map<std::string, std::string> headers{};
};

struct HttpsReply {
    int status = 0;
    std::string body;
    std::map<std::string, std::string> headers;  // names in lower case
};

class HttpsClient {
public:
    explicit HttpsClient(HttpsClientSettings settings) : settings_{std::move(settings)} {}

    // Over HTTPS the server's certificate must be for the URL's host, or its address, and by the
    // authority. The error says why there is no complete reply; the server may have executed the
    // request nevertheless. A stop request ends it early.
    [[nodiscard]] Result<HttpsReply> send(const HttpsRequest& request,
                                          const std::stop_token& stop = {}) const;

private:
    HttpsClientSettings settings_;
};

}  // namespace jackpot::net
