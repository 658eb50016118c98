// The displays of the floor: those that poll and those that are driven, and whether anyone sees
// them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "config/config.h"
#include "jackpotd/log.h"
#include "jackpotd/writer.h"
#include "meters/display_watchdog.h"
#include "meters/modbus_master.h"
#include "meters/modbus_server.h"

namespace jackpot {

// One thread, but for inJson() and the threads of its own that serve displays.
class Displays {
public:
    // Listens, drives, and shows the writer's board from now on. The writer and the log outlive it.
    // To be called before tables connect, who would take the low descriptors that libmodbus needs.
    static Result<std::unique_ptr<Displays>> start(const config::Config& config, Writer& writer,
                                                   const Log& log);

    // Takes the meters of a configuration that was read again; what can't be changed without a
    // restart comes back in words.
    std::vector<std::string> setMeters(const config::Config& config);
    // To be called every kLookMs: raises an alarm for a meter that nobody sees, and suspends its
    // tables where so configured.
    void look();
    static constexpr int kLookMs = 250;
    // For jackpotctl meters and the desk; any thread.
    [[nodiscard]] std::string inJson() const;
    // Where displays poll; empty where they don't.
    [[nodiscard]] std::string address() const;

    // Any thread's, as the rest of these is not.
    [[nodiscard]] const meters::Server* server() const { return server_.get(); }
    [[nodiscard]] std::vector<meters::DisplayState> drivenStates() const
    {
        return master_.states();
    }
    [[nodiscard]] std::size_t silent() const { return silent_; }

private:
    struct ConfiguredMeter {
        config::Meter config;
        std::size_t pool = 0;
    };

    Displays(Writer& writer, const Log& log)
        : writer_{writer}, log_{log}, master_{writer.publishedPools()}
    {}
    std::vector<std::string> take(const config::Config& config);
    [[nodiscard]] std::vector<meters::DrivenDisplay> driven() const;
    [[nodiscard]] std::vector<meters::PolledMeter> polled() const;
    [[nodiscard]] std::vector<std::optional<meters::Clock::time_point>> lastShown() const;
    void report(const meters::DisplayWatchdogChange& change);
    void logStrangers();

    Writer& writer_;
    const Log& log_;
    std::vector<config::Endpoint> listeners_;  // in the server's order
    mutable std::mutex mutex_;                 // of known_ and watch_, which inJson() reads
    std::vector<ConfiguredMeter> known_;
    meters::DisplayWatchdog watch_{{}, {}};
    meters::Master master_;
    std::unique_ptr<meters::Server> server_;
    std::atomic<std::size_t> silent_{0};  // meters, as of the last look
    std::uint64_t strangersSaid_ = 0;
    meters::Clock::time_point strangersSaidAt_;
};

}  // namespace jackpot
