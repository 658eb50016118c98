// The desk's HTTPS server. One thread has every connection and never waits for any of them: each
// request has an absolute deadline, so that who drips bytes holds up nothing but one connection.
// Handlers run on a few threads of their own, those that hash passwords on two more. All of them
// are behind the tables' threads for the processor.
//
// What a handler sees has passed the limits, the route table's roles, the session and the CSRF
// check.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "console/people/sessions.h"
#include "console/route.h"
#include "net/tls.h"

namespace jackpot::console {

struct ServerLimits {
    std::int64_t maxConnections = 500;
    std::int64_t maxConnectionsPerAddress = 300;
    std::int64_t maxFeeds = 250;
    std::int64_t requestTimeoutMs = 10'000;  // from a request's first byte to its last
};

struct ServerSettings {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;  // 0 lets the system choose
    net::TlsFiles tls;
    ServerLimits limits;
    // Whether the daemon may be watched from this address without a session; unset is from nowhere.
    std::function<bool(const std::string& address)> isMonitor{};
    std::int64_t handshakeTimeoutMs = 5000;
    std::int64_t idleTimeoutMs = 30'000;        // between two requests
    std::int64_t heartbeatMs = 3000;            // of a feed
    std::string bodyType = "application/json";  // empty for any
};

class Server {
public:
    using Say = std::function<void(const std::string& warning)>;

    // The sessions outlive it, and what the routes work on.
    static Result<std::unique_ptr<Server>> listen(ServerSettings settings,
                                                  std::vector<Route> routes, Sessions& sessions,
                                                  Say warn);
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    // Takes no more, lets handlers end that have begun, closes everything.
    ~Server();

    [[nodiscard]] std::uint16_t port() const;
    // Any thread; never waits. `event` is a word, `json` one line. A feed that is too slow loses
    // its oldest events and is told how many. Feeds of a topic hear what is of that topic alone,
    // the others everything.
    void publish(std::string_view event, std::string_view json, std::string topic = {});
    // Any thread. The certificates are read again; connections that are open keep theirs.
    Result<void> setTls(const net::TlsFiles& files);
    void setLimits(const ServerLimits& limits);

    struct Counters {
        std::atomic<std::uint64_t> connections{0};  // open now
        std::atomic<std::uint64_t> feeds{0};        // the same
        std::atomic<std::uint64_t> requests{0};
        std::atomic<std::uint64_t> refused{0};  // requests that no handler saw
        std::atomic<std::uint64_t> turnedAway{0};
        std::atomic<std::uint64_t> tooSlow{0};
    };
    [[nodiscard]] const Counters& counters() const;

private:
    class Loop;
    explicit Server(std::unique_ptr<Loop> loop);
    std::unique_ptr<Loop> loop_;
};

}  // namespace jackpot::console
