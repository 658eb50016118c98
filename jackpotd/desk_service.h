// The claims desk of the daemon, from who may come to it to its server: last up, first down.
#pragma once

#include <memory>
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
#include "net/http_server.h"

namespace jackpot {

class Desk {
public:
    // `config` has a desk. The writer, the displays, the log, the metrics and the dealers, if any,
    // outlive it.
    static Result<std::unique_ptr<Desk>> open(const config::Config& config, Writer& writer,
                                              const Displays& displays,
                                              console::DemoDealers* dealers, const Log& log,
                                              Metrics& metrics);

    Desk(const Desk&) = delete;
    Desk& operator=(const Desk&) = delete;
    ~Desk() { desk_.stopReports(); }

    console::People& people() { return *people_; }
    net::HttpServer& server() { return *server_; }
    // Limits, sessions, and the certificates from their files. The error is what was not applied.
    Result<void> reload(const config::DeskConfig& desk);

private:
    Desk(const config::Config& config, Writer& writer, const Displays& displays);
    void publish(const meters::PublishedPools& board, const std::stop_token& stop);

    console::Controller controller_;
    console::Sessions sessions_;
    console::SearchIndex book_;
    console::DeskApi desk_;
    console::Notifier notifier_;
    std::unique_ptr<console::People> people_;
    std::unique_ptr<net::HttpServer> server_;
    std::jthread feed_;  // tells it what displays show, and what has changed
};

}  // namespace jackpot
