// The daemon's side of the link. One thread accepts connections, authenticates tables by their
// certificates, passes their commands to the writer and sends them the writer's decisions.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "linkproto/server/link_messages.h"
#include "net/event_loop.h"
#include "net/tls.h"

namespace jackpot::linkproto {

struct ServerSettings {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;  // 0 lets the system choose
    std::int64_t maxConnections = 2500;
    std::int64_t maxConnectionsPerAddress = 2500;
    std::int64_t handshakeTimeoutMs = 5000;  // from accept to a complete Hello
    std::int64_t frameTimeoutMs = 5000;      // from a frame's first byte to its last
    std::int64_t offlineAfterMs = 5000;      // without a frame, then the table counts as offline
};

class Server {
public:
    // Consumes a prefix of `incoming` and returns its length. The server stops reading from tables
    // while the rest is pending. Called in the server's thread.
    using Post = std::function<std::size_t(std::vector<Incoming>& incoming)>;

    // `rejected` includes the connections that were closed before a valid Hello.
    struct Counters : net::ConnectionCounters {
        std::atomic<std::uint64_t> badFrames{0};
        std::atomic<std::uint64_t> commands{0};
        std::atomic<std::uint64_t> stalls{0};  // times that the writer's mailbox was full
    };

    // Starts listening. `tables` are the ids of the tables in the order of their indices.
    static Result<std::unique_ptr<Server>> listen(const ServerSettings& settings,
                                                  net::TlsContext tls,
                                                  std::vector<std::string> tables,
                                                  Pseudonym pseudonym, Post post);
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server();

    [[nodiscard]] std::uint16_t port() const;
    [[nodiscard]] const Counters& counters() const;

    // Any thread; these do not wait for the network.
    void deliver(Delivery delivery);
    void setTables(std::vector<std::string> tables);
    // Closes the connections whose certificates the new context does not accept.
    void setTls(net::TlsContext tls);
    void setLimits(const ServerSettings& settings);
    // Sends Goodbye to all tables, waits up to half a second until they have closed their
    // connections, and ends the thread.
    void stop(GoodbyeReason reason, const std::string& detail);

private:
    class Impl;
    explicit Server(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> impl_;
    std::jthread thread_;
};

}  // namespace jackpot::linkproto
