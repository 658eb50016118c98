// Publishes the journal's checkpoints to a file, to syslog and to an HTTPS witness, so that a
// journal that was rolled back or rewritten can be detected.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/change_signal.h"
#include "base/result.h"
#include "config/config.h"
#include "jackpotd/log.h"
#include "net/tls.h"

namespace jackpot {

// Has a thread that reads the newest checkpoint from the journal after a commit, at most once in an
// interval; the writer does no work for it. A target that fails receives the newest checkpoint at
// the next interval.
class Witness {
public:
    using Raise = std::function<void(std::string code, std::string detail)>;
    // `tls` has the daemon's own certificate, for a witness that asks for one, and its authority.
    // `raise` reports a failing target once until it succeeds again, and at most every ten minutes.
    // `commits` is notified after each commit. It and the log outlive the witness.
    Witness(config::WitnessConfig config, net::TlsFiles tls, std::filesystem::path journalDirectory,
            ChangeSignal& commits, const Log& log, Raise raise);

private:
    // One target, and how many records it has seen.
    struct WitnessTarget {
        std::string name;
        std::function<Result<void>(const std::string& note)> send;
        std::uint64_t sent = 0;  // records
        bool failing = false;
        std::chrono::steady_clock::time_point quietUntil{};  // after an alarm
    };

    void run(const std::stop_token& stop);
    // False if a target has not received the newest checkpoint.
    bool sendToAll();
    Result<void> append(const std::string& note) const;
    Result<void> push(const std::string& note);

    const config::WitnessConfig config_;
    const net::TlsFiles tls_;
    const std::filesystem::path directory_;
    ChangeSignal& commits_;
    const Log& log_;
    const Raise raise_;
    std::vector<WitnessTarget> targets_;
    std::uint64_t witnessed_ = 0;  // records that the HTTPS witness has, as far as is known
    std::stop_token stop_;
    std::jthread thread_;
};

}  // namespace jackpot
