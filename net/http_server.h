// A server for HTTPS and for HTTP on a Unix socket of this machine. One thread owns every
// connection and never blocks on one of them: each request has an absolute deadline, so a slow
// client only blocks its own connection. Handlers run in worker pools. All threads have a lower
// priority than those that serve tables.
//
// A request reaches its handler after the limits and the route's authorisation.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/event_loop.h"
#include "net/route.h"
#include "net/tls.h"

namespace jackpot::net {

struct HttpServerLimits {
    std::int64_t maxConnections = 500;
    std::int64_t maxConnectionsPerAddress = 300;
    std::int64_t maxFeeds = 250;
    std::int64_t requestTimeoutMs = 10'000;  // from a request's first byte to its last
};

struct HttpServerSettings {
    std::string host = "127.0.0.1";  // empty: no HTTPS
    std::uint16_t port = 0;          // 0 lets the system choose
    TlsFiles tls;
    HttpServerLimits limits;
    std::int64_t handshakeTimeoutMs = 5000;
    std::int64_t idleTimeoutMs = 30'000;        // between two requests
    std::int64_t heartbeatMs = 3000;            // of a feed
    std::string bodyType = "application/json";  // empty for any
    // Plain HTTP for processes of this user and of root; empty: none. The limits but those of
    // connections are the same.
    std::filesystem::path localSocket{};
    std::int64_t maxLocalConnections = 32;
    std::string notFound = "there is nothing at this path";
};

class HttpServer {
public:
    using LogWarning = std::function<void(const std::string& text)>;

    // Whatever the routes refer to outlives the server.
    static Result<std::unique_ptr<HttpServer>> listen(HttpServerSettings settings,
                                                      std::vector<Route> routes,
                                                      LogWarning logWarning);
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    // Waits for running handlers, sends their replies and closes every connection.
    ~HttpServer();

    [[nodiscard]] std::uint16_t port() const;
    // Sends an event to the event streams of the topic and to those without a topic. Any thread;
    // never waits. `event` is a word, `json` one line. A stream that is too slow loses its oldest
    // events and receives their number in a "lost" event.
    void publish(std::string_view event, std::string_view json, std::string topic = {});
    // Any thread. Reads the certificates of HTTPS again; open connections keep theirs.
    Result<void> setTls(const TlsFiles& files);
    void setLimits(const HttpServerLimits& limits);

    struct Counters : ConnectionCounters {
        std::atomic<std::uint64_t> feeds{0};  // open now
        std::atomic<std::uint64_t> requests{0};
        std::atomic<std::uint64_t> rejectedRequests{0};  // before a handler ran
        std::atomic<std::uint64_t> timedOut{0};
    };
    // Of HTTPS.
    [[nodiscard]] const Counters& counters() const;

private:
    class Loop;
    explicit HttpServer(std::unique_ptr<Loop> loop);
    std::unique_ptr<Loop> loop_;
};

}  // namespace jackpot::net
