// Modbus TCP for displays that poll: one thread, any number of displays up to a limit, none of
// which can delay another. It shows what the board has and changes nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "meters/published_pools.h"

namespace jackpot::meters {

// Of IPv6; an IPv4 network is the one that IPv6 maps it to.
struct Network {
    std::array<std::uint8_t, 16> address{};
    int prefix = 0;

    bool operator==(const Network&) const = default;
};

struct PolledMeter {
    std::string id;
    std::size_t pool = 0;      // on the board
    std::size_t listener = 0;  // among the server's
    std::uint8_t unit = 1;
    // Where set, the unit means this meter for displays with this address alone, and comes before a
    // meter of the same unit for any.
    std::optional<Network> display;
};

struct ServerSettings {
    struct Listener {
        std::string host = "127.0.0.1";
        std::uint16_t port = 0;  // 0 lets the system choose
        // One that listens already is used instead of both, and is the server's from then on.
        std::optional<int> socket{};
    };
    std::vector<Listener> listeners;
    std::vector<Network> allow;  // who may connect
    std::int64_t maxDisplays = 500;
    std::int64_t maxDisplaysPerAddress = 16;
    std::int64_t frameTimeoutMs = 30;  // from a frame's first byte to its last
    std::int64_t idleTimeoutMs = 60'000;
};

struct PollState {
    std::string id;
    std::uint64_t reads = 0;
    std::optional<Clock::time_point> lastRead;
    std::string lastFrom;
};

class Server {
public:
    struct Counters {
        std::atomic<std::uint64_t> displays{0};  // connected now
        std::atomic<std::uint64_t> reads{0};
        std::atomic<std::uint64_t> exceptions{0};
        std::atomic<std::uint64_t> strangers{0};  // not allowed, or too many
        std::atomic<std::uint64_t> broken{0};     // closed for what they sent or did not send
    };

    // Listens. The board outlives the server.
    static Result<std::unique_ptr<Server>> listen(ServerSettings settings,
                                                  std::vector<PolledMeter> meters,
                                                  const PublishedPools& board);
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server();

    [[nodiscard]] std::uint16_t port(std::size_t listener = 0) const;
    [[nodiscard]] const Counters& counters() const;

    // Any thread. A meter that keeps its id keeps its count.
    void setMeters(std::vector<PolledMeter> meters);
    [[nodiscard]] std::vector<PollState> states() const;

private:
    class Loop;
    explicit Server(std::unique_ptr<Loop> loop);

    std::unique_ptr<Loop> loop_;
    std::jthread thread_;
};

}  // namespace jackpot::meters
