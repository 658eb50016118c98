// What Prometheus reads of the daemon, and whether it is alive and ready (docs/monitoring.md). It
// looks at what the others count, and waits for none of them. Any thread.
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

    // A writer that has not had a turn for so long decides nothing that tables wait for; for ten,
    // nothing that they will.
    static constexpr std::chrono::seconds kReadyWithin{3};
    static constexpr std::chrono::seconds kAliveWithin{10};

    // All of them outlive it.
    Metrics(std::string version, std::filesystem::path journalDirectory, const Writer& writer,
            const linkproto::Server& link, const Displays& displays, const Log& log)
        : version_{std::move(version)},
          journalDirectory_{std::move(journalDirectory)},
          writer_{writer},
          link_{link},
          displays_{displays},
          log_{log}
    {}

    // The desk's, as long as it serves.
    void setDesk(const net::HttpServer::Counters& counters) { desk_ = &counters; }
    void setVerification(Verification verification) { verification_ = verification; }

    // In Prometheus' text format 0.0.4.
    [[nodiscard]] std::string text() const;
    // The error says why not, for anyone to hear.
    [[nodiscard]] Result<void> alive() const;
    [[nodiscard]] Result<void> ready() const;
    // These, as the desk's routes ask for them.
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
