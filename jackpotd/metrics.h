// The daemon's metrics for Prometheus, its liveness and its readiness (docs/monitoring.md). It
// reads the counters of the other parts and never waits for them. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "console/desk/monitoring.h"
#include "jackpotd/displays.h"
#include "jackpotd/log.h"
#include "jackpotd/writer.h"
#include "linkproto/server/link_server.h"
#include "net/http_server.h"

namespace jackpot {

class Metrics {
public:
    enum class Verification : std::uint8_t { Running, Verified, Failed };

    // No turn of the writer for 3 s: not ready. No turn for 10 s: not alive.
    static constexpr std::chrono::seconds kReadyWithin{3};
    static constexpr std::chrono::seconds kAliveWithin{10};

    // The other parts outlive it.
    Metrics(std::string version, std::filesystem::path journalDirectory, const Writer& writer,
            const linkproto::Server& link, const Displays& displays, const Log& log)
        : version_{std::move(version)},
          journalDirectory_{std::move(journalDirectory)},
          writer_{writer},
          link_{link},
          displays_{displays},
          log_{log}
    {}

    // The counters of the desk's server, which outlives the last text().
    void setDesk(const net::HttpServer::Counters& counters) { desk_ = &counters; }
    void setVerification(Verification verification) { verification_ = verification; }

    // In Prometheus' text format 0.0.4.
    [[nodiscard]] std::string text() const;
    // The error is the reason, for any reader.
    [[nodiscard]] Result<void> alive() const;
    [[nodiscard]] Result<void> ready() const;
    // The above as callbacks for the desk's routes.
    [[nodiscard]] console::Monitoring forDesk() const;

private:
    class Page;
    void writeProcess(Page& page) const;
    void writeWriter(Page& page) const;
    void writeJournal(Page& page) const;
    void writePools(Page& page) const;
    void writeLink(Page& page) const;
    void writeMeters(Page& page) const;
    void writeDesk(Page& page) const;
    void writeLog(Page& page) const;

    const std::string version_;
    const std::filesystem::path journalDirectory_;
    const Writer& writer_;
    const linkproto::Server& link_;
    const Displays& displays_;
    const Log& log_;
    std::atomic<const net::HttpServer::Counters*> desk_{nullptr};
    std::atomic<Verification> verification_{Verification::Running};
};

}  // namespace jackpot
