// The daemon's API: a Unix socket in the journal's directory for the owner of the machine, and with
// [desk] the claims desk over HTTPS: accounts, sessions, search index and notices. Started last and
// ended first.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "config/config.h"
#include "console/desk/controller.h"
#include "console/desk/demo_dealers.h"
#include "console/desk/desk_api.h"
#include "console/desk/notifier.h"
#include "console/people/people.h"
#include "console/people/sessions.h"
#include "console/search/search_index.h"
#include "jackpotd/displays.h"
#include "jackpotd/log.h"
#include "jackpotd/metrics.h"
#include "jackpotd/writer.h"
#include "linkproto/server/link_server.h"
#include "net/http_server.h"

namespace jackpot {

// The parts of the daemon that the API uses. They outlive it.
struct DeskParts {
    Writer& writer;
    const linkproto::Server& link;
    const Displays& displays;
    console::DemoDealers* dealers = nullptr;  // null without demo tables
    const Log& log;
    Metrics& metrics;
    std::function<Result<console::Controller::ReloadReport>()> reload;
};

class DeskService {
public:
    static Result<std::unique_ptr<DeskService>> open(const config::Config& config,
                                                     const DeskParts& parts);

    DeskService(const DeskService&) = delete;
    DeskService& operator=(const DeskService&) = delete;
    ~DeskService();

    // Of HTTPS.
    [[nodiscard]] std::uint16_t port() const { return server_->port(); }
    // Applies limits and session settings of the claims desk, and reads its certificates again. An
    // error: the certificates could not be read, and those in use stay.
    Result<void> reload(const config::DeskConfig& desk);

private:
    // Those of the claims desk.
    struct Desk {
        Desk(const config::Config& config, const console::Controller& controller,
             ChangeSignal& changes);
        console::SearchIndex index;
        console::DeskApi api;
        console::Notifier notifier;
        std::unique_ptr<console::People> people;
    };

    DeskService(const config::Config& config, const DeskParts& parts);
    Result<void> openDesk(const config::Config& config, const DeskParts& parts);
    [[nodiscard]] std::string status(const Writer& writer, const linkproto::Server& link) const;
    void publish(const meters::PublishedReadings& readings, const std::stop_token& stop);

    console::Controller controller_;
    console::Sessions sessions_;
    std::optional<Desk> desk_;
    std::atomic<const net::HttpServer::Counters*> httpsCounters_{nullptr};  // null without a desk
    std::unique_ptr<net::HttpServer> server_;
    std::jthread feed_;  // publishes changed readings and records to browsers
};

}  // namespace jackpot
