// The claims desk: accounts, sessions, search index, notices and the HTTPS server, started last and
// ended first.
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

class DeskService {
public:
    // `config` has a desk. The writer, the displays, the log, the metrics and the dealers, if any,
    // outlive it.
    static Result<std::unique_ptr<DeskService>> open(const config::Config& config, Writer& writer,
                                                     const Displays& displays,
                                                     console::DemoDealers* dealers, const Log& log,
                                                     Metrics& metrics);

    DeskService(const DeskService&) = delete;
    DeskService& operator=(const DeskService&) = delete;
    ~DeskService() { desk_.stopReports(); }

    console::People& people() { return *people_; }
    net::HttpServer& server() { return *server_; }
    // Applies limits and session settings, and reads the certificates again. An error: the
    // certificates could not be read, and those in use stay.
    Result<void> reload(const config::DeskConfig& desk);

private:
    DeskService(const config::Config& config, Writer& writer, const Displays& displays);
    void publish(const meters::PublishedReadings& readings, const std::stop_token& stop);

    console::Controller controller_;
    console::Sessions sessions_;
    console::SearchIndex index_;
    console::DeskApi desk_;
    console::Notifier notifier_;
    std::unique_ptr<console::People> people_;
    std::unique_ptr<net::HttpServer> server_;
    std::jthread feed_;  // publishes changed readings and records to browsers
};

}  // namespace jackpot
