// Reads the configuration and the certificates again and applies what may change at run time.
#pragma once

#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "config/config.h"
#include "jackpotd/desk_service.h"
#include "jackpotd/displays.h"
#include "jackpotd/log.h"
#include "jackpotd/writer.h"
#include "linkproto/server/link_server.h"

namespace jackpot {

using ReloadReport = console::Controller::ReloadReport;

// Used by main's thread only.
class Reload {
public:
    // `running` is the configuration in force. The others outlive it.
    Reload(config::Config running, Log& log, Writer& writer, linkproto::Server& link,
           Displays& displays, DeskService& desk);

    // The report is logged too.
    ReloadReport run();

private:
    ReloadReport apply();
    Result<void> applyTls();
    Result<void> applySite(const rules::Site& wanted);
    void applyLinkLimits(const config::LinkConfig& wanted);
    Result<void> applyDesk(const config::DeskConfig& wanted);

    config::Config config_;
    Log& log_;
    Writer& writer_;
    linkproto::Server& link_;
    Displays& displays_;
    DeskService& desk_;
};

// Requests of other threads for a reload, which main's thread carries out.
class ReloadRequests {
public:
    ReloadRequests();
    ReloadRequests(const ReloadRequests&) = delete;
    ReloadRequests& operator=(const ReloadRequests&) = delete;
    ~ReloadRequests();

    // Any thread but main's: waits for the report. An error: the daemon is ending.
    Result<ReloadReport> request();

    // For main's thread. The descriptor is readable while requests wait; one reload serves all of
    // them.
    [[nodiscard]] int descriptor() const { return event_; }
    void serve(const std::function<ReloadReport()>& reload);
    // Requests that wait, and later ones, get the error.
    void stop();

private:
    std::vector<std::promise<Result<ReloadReport>>> takeWaiting();

    const int event_;
    std::mutex mutex_;
    bool isStopped_ = false;
    std::vector<std::promise<Result<ReloadReport>>> waiting_;
};

}  // namespace jackpot
