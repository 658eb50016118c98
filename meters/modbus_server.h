// Modbus TCP server for displays that poll. One thread serves all displays, and a slow display
// delays only itself. The server reads the published readings and changes nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/ip_network.h"
#include "base/result.h"
#include "meters/published_readings.h"
#include "net/event_loop.h"

namespace jackpot::meters {

struct PolledMeter {
    std::string id;
    std::size_t pool = 0;      // index among the published readings
    std::size_t listener = 0;  // index among the server's listeners
    std::uint8_t unit = 1;
    // If set, only displays in this network reach the meter. It takes precedence over a meter with
    // the same unit for all displays.
    std::optional<IpNetwork> display;
};

struct ServerSettings {
    struct Listener {
        std::string host = "127.0.0.1";
        std::uint16_t port = 0;  // 0 lets the system choose
        // If set, this listening socket is used instead. The server closes it.
        std::optional<int> socket{};
    };
    std::vector<Listener> listeners;
    std::vector<IpNetwork> allow;  // addresses that may connect
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
    // `rejected`: not in `allow`, or beyond a limit.
    struct Counters : net::ConnectionCounters {
        std::atomic<std::uint64_t> reads{0};
        std::atomic<std::uint64_t> exceptions{0};
        std::atomic<std::uint64_t> broken{0};  // closed for a malformed or incomplete frame
    };

    // Starts listening. `readings` outlives the server.
    static Result<std::unique_ptr<Server>> listen(ServerSettings settings,
                                                  std::vector<PolledMeter> meters,
                                                  const PublishedReadings& readings);
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server();

    [[nodiscard]] std::uint16_t port(std::size_t listener = 0) const;
    [[nodiscard]] const Counters& counters() const;

    // Any thread. A meter that keeps its id keeps its counter.
    void setMeters(std::vector<PolledMeter> meters);
    [[nodiscard]] std::vector<PollState> states() const;

private:
    class Impl;
    explicit Server(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> impl_;
    std::jthread thread_;
};

}  // namespace jackpot::meters
