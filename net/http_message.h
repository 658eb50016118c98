// Requests and replies of the HTTP server.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace jackpot::net {

// The request line and the headers.
struct RequestHead {
    std::string method;
    std::string path;                            // as sent, still percent-encoded
    std::string query;                           // as sent, without the question mark
    std::map<std::string, std::string> headers;  // names in lower case
    std::size_t bodyBytes = 0;
    bool keepAlive = true;
    bool expectsContinue = false;

    // Empty if the request has no such header. `name` is in lower case.
    [[nodiscard]] std::string_view header(const std::string& name) const;
};

// What a handler receives. The body can hold a password: the destructor overwrites it.
struct Request {
    Request() = default;
    Request(const Request&) = default;
    Request(Request&&) = default;
    Request& operator=(const Request&) = default;
    Request& operator=(Request&&) = default;
    ~Request();

    std::string method;
    std::map<std::string, std::string> path;   // by the names in the route's pattern
    std::map<std::string, std::string> query;  // decoded; the last value of a repeated name
    std::string body;                          // at most kMaxBodyBytes
    std::string address;                       // of the client
    std::string certificate;                   // SHA-256 of the client's, in hex; empty without one
};

struct Reply {
    int status = 200;
    std::string body;
    std::string contentType = "application/json";
    std::map<std::string, std::string> headers{};  // in addition to the server's own
    std::string topic{};                           // of an event stream; empty: all events
};

// A reply of this content type has no body: its connection receives what HttpServer::publish sends.
inline constexpr std::string_view kEventStreamType = "text/event-stream";

// {"error": {"code": "...", "message": "..."}} with the status.
Reply errorReply(int status, std::string_view code, std::string_view message);

}  // namespace jackpot::net
