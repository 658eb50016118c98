// The displays of the floor: those that poll the daemon and those that it drives, with an alarm for
// each meter that is not read or written for too long.
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

// A meter that the configuration drives, as the Modbus master takes it. `pool` is the index of the
// meter's pool.
meters::DrivenDisplay toDrivenDisplay(const config::Meter& meter, std::size_t pool);

// Used by main's thread, except as stated. Its own threads serve and drive the displays.
class Displays {
public:
    // Listens, drives, and shows the writer's readings from now on. The writer and the log
    // outlive it. Call it before tables connect: they would take the low descriptors that libmodbus
    // needs.
    static Result<std::unique_ptr<Displays>> start(const config::Config& config, Writer& writer,
                                                   const Log& log);

    // Applies the meters of a configuration that was read again. Returns a text for each change
    // that needs a restart.
    std::vector<std::string> setMeters(const config::Config& config);
    // Call every kCheckIntervalMs. Raises an alarm for a meter that was not read or written for its
    // configured time, and suspends its tables if so configured.
    void checkWatchdogs();
    static constexpr int kCheckIntervalMs = 500;
    // For jackpotctl meters and the desk. Any thread.
    [[nodiscard]] std::string inJson() const;
    // Of the first listener; empty if displays do not poll.
    [[nodiscard]] std::string address() const;

    // ---- any thread

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
        : writer_{writer}, log_{log}, master_{writer.readings()}
    {}
    std::vector<std::string> configure(const config::Config& config);
    [[nodiscard]] std::vector<meters::DrivenDisplay> driven() const;
    [[nodiscard]] std::vector<meters::PolledMeter> polled() const;
    [[nodiscard]] std::vector<std::optional<meters::Clock::time_point>> lastShown() const;
    void report(const meters::DisplayWatchdogChange& change);
    void logRejectedConnections();

    Writer& writer_;
    const Log& log_;
    std::vector<config::Endpoint> listeners_;  // in the server's order
    mutable std::mutex mutex_;                 // protects meters_ and watch_
    std::vector<ConfiguredMeter> meters_;
    meters::DisplayWatchdog watch_{{}, {}};
    meters::Master master_;
    std::unique_ptr<meters::Server> server_;
    std::atomic<std::size_t> silent_{0};  // meters, as of the last check
    std::uint64_t rejectedLogged_ = 0;
    meters::Clock::time_point rejectedLoggedAt_;
};

}  // namespace jackpot
