// The daemon's parts. The order of the members is the order of the start; the parts that others
// reach from outside start last and end first. Used by main's thread only.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "config/config.h"
#include "jackpotd/demo_tables.h"
#include "jackpotd/desk_service.h"
#include "jackpotd/displays.h"
#include "jackpotd/exit_status.h"
#include "jackpotd/log.h"
#include "jackpotd/metrics.h"
#include "jackpotd/reload.h"
#include "jackpotd/signals.h"
#include "jackpotd/witness.h"
#include "jackpotd/writer.h"
#include "linkproto/server/link_server.h"
#include "storage/verify.h"

namespace jackpot {

struct StartError {
    std::string message;
    int exitStatus = kExitCannotStart;
};

class Daemon {
public:
    // Nothing listens before the self-check has passed and the journal has been verified. The log
    // outlives it.
    static Result<std::unique_ptr<Daemon>, StartError> start(const config::Config& config,
                                                             Log& log);
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;
    ~Daemon();

    // Serves until a signal or a failure of the journal ends it, shuts down, and returns the
    // process's exit status.
    int run();

private:
    Daemon(const config::Config& config, Log& log);
    Result<void, StartError> startParts();
    Result<storage::Journal, StartError> openJournal();
    void startWriter(storage::Journal journal);
    Result<void, StartError> startLink(net::TlsContext tls, linkproto::Pseudonym pseudonym);
    void startVerification(const storage::Verifier& verifier);
    void startWitness();
    Result<void, StartError> startDesk();

    void onJournalFailed(const storage::JournalError& error);
    [[nodiscard]] std::string statusLine() const;
    bool handleSignals();
    void shutDown(const std::string& reason);

    config::Config config_;
    Log& log_;
    Signals signals_;
    std::atomic<int> exitStatus_;
    int failureEvent_;  // readable once the journal has failed
    ReloadRequests reloadRequests_;
    std::unique_ptr<Writer> writer_;
    std::unique_ptr<Displays> displays_;
    std::unique_ptr<linkproto::Server> link_;
    std::optional<Metrics> metrics_;
    std::optional<storage::BackgroundVerification> verification_;
    std::optional<Witness> witness_;
    std::unique_ptr<DemoTables> demoTables_;
    std::unique_ptr<DeskService> desk_;
    std::optional<Reload> reload_;
};

}  // namespace jackpot
