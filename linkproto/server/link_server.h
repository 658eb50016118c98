// The daemon's side of the link: one thread that accepts, proves and hears tables, and tells them
// what the daemon decided. It decides nothing itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/result.h"
#include "link.pb.h"
#include "linkproto/server/server_codec.h"
#include "net/tls.h"
#include "rules/commands.h"

namespace jackpot::linkproto {

struct ServerSettings {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;  // 0 lets the system choose
    std::int64_t maxConnections = 2500;
    std::int64_t maxConnectionsPerAddress = 2500;
    std::int64_t handshakeTimeoutMs = 5000;  // until Hello has come
    std::int64_t frameTimeoutMs = 5000;      // from a frame's first byte to its last
    std::int64_t offlineAfterMs = 5000;      // of silence
};

// What the server hears, for whoever decides.
struct TableConnected {
    std::string receipt;  // a signed note, or empty
    std::string software;
    std::uint64_t decided = 0;  // the newest number it has a decision on
};
struct CommandReceived {
    rules::Command command;
    std::uint64_t number = 0;
    std::int64_t clockMs = 0;
};
struct StateRequest {};
struct WagerCountReport {
    std::uint64_t wagers = 0;
    std::uint64_t asOf = 0;  // the number of the table's command that the count includes
};
struct TableTimedOut {};  // nothing was heard for too long; connection 0
// Those who were refused before they were a table: how many since the last time, and one reason.
struct RejectedConnections {
    std::uint64_t count = 0;
    std::string example;
};
// What a table sent is not fit to be decided. Already answered.
struct MalformedCommand {
    std::string what;
};

struct Incoming {
    std::uint64_t connection = 0;
    std::uint32_t table = 0;  // index among the tables; of no meaning for RejectedConnections
    std::variant<TableConnected, CommandReceived, StateRequest, WagerCountReport, TableTimedOut,
                 RejectedConnections, MalformedCommand>
        what;
};

// What became of a CommandReceived. `details` has the rest of the Decision where there is any.
struct Decided {
    std::uint64_t number = 0;
    std::uint64_t record = 0;
    std::int64_t displayedCents = 0;
    std::unique_ptr<v1::Decision> details;
};

struct Outgoing {
    std::uint64_t connection = 0;  // 0: whichever the table has
    std::uint32_t table = 0;
    std::variant<Decided, v1::ToTable> what;
};

// What one commit has to tell. The receipt covers all Decided in it.
struct Delivery {
    v1::Receipt receipt;
    std::vector<Outgoing> outgoing;
};

class Server {
public:
    // Takes as many from the front as there is room for and returns how many; while some are left
    // the server reads nothing more.
    using Post = std::function<std::size_t(std::vector<Incoming>& incoming)>;

    struct Counters {
        std::atomic<std::uint64_t> connections{0};  // open now
        std::atomic<std::uint64_t> strangers{0};
        std::atomic<std::uint64_t> badFrames{0};
        std::atomic<std::uint64_t> commands{0};
        std::atomic<std::uint64_t> stalls{0};  // times that the mailbox was full
    };

    // Listens. `tables` are the ids in the order of their indices.
    static Result<std::unique_ptr<Server>> listen(const ServerSettings& settings,
                                                  net::TlsContext tls,
                                                  std::vector<std::string> tables,
                                                  Pseudonym pseudonym, Post post);
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server();

    [[nodiscard]] std::uint16_t port() const;
    [[nodiscard]] const Counters& counters() const;

    // Any thread. Nothing of it waits for the network.
    void deliver(Delivery delivery);
    void setTables(std::vector<std::string> tables);
    void setTls(net::TlsContext tls);
    void setLimits(const ServerSettings& settings);
    // Says goodbye to all, waits a moment for them to hear it, and ends the thread.
    void stop(v1::Goodbye::Why why, const std::string& detail);

private:
    class Loop;
    explicit Server(std::unique_ptr<Loop> loop);

    std::unique_ptr<Loop> loop_;
    std::jthread thread_;
};

}  // namespace jackpot::linkproto
