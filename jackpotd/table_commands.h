// Handles what tables send: their hellos, their commands in the order of their numbers, commands
// that they send again and their counts of wagers; and enforces their limits. Used in the writer's
// turn only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "jackpotd/absences.h"
#include "jackpotd/alarms.h"
#include "jackpotd/decider.h"
#include "jackpotd/log.h"
#include "jackpotd/replies.h"
#include "jackpotd/restore_guard.h"
#include "jackpotd/writer_metrics.h"
#include "linkproto/server/link_messages.h"

namespace jackpot {

struct TableLimits {
    std::int64_t refusalsPerMinute = 60;  // more suspend the table
    std::optional<std::int64_t> roundsPerMinute;
    std::int64_t offlineNoticeAfterS = 60;  // a table that is offline for longer is an alarm
};

class TableCommands {
public:
    // Commits the batch so far; false if that failed.
    using Commit = std::function<bool()>;

    // The others outlive it.
    TableCommands(std::filesystem::path journalDirectory, const TableLimits& limits,
                  Decider& decider, Alarms& alarms, RestoreGuard& guard, Replies& replies,
                  WriterMetrics& metrics, const Log& log, Commit commit);

    void setLimits(const TableLimits& limits) { limits_ = limits; }

    void handle(const linkproto::Incoming& incoming);
    // Raises an alarm for each table that is offline for too long, once for each absence.
    void reportAbsences();

private:
    struct Minute {
        rules::TimeMs beginMs = 0;
        std::int64_t refusals = 0;
        std::int64_t rounds = 0;
    };

    void handleRejectedConnections(const linkproto::RejectedConnections& rejected);
    void handleConnected(const Recipient& from, const linkproto::TableConnected& connected);
    void handleTimedOut(std::uint32_t table);
    void handleWhileLocked(const linkproto::Incoming& incoming);
    void disconnectAfterFailedRead(const Recipient& from, const Error& error);
    // Decides the command, repeats its decision, or rejects it. An error: the decision to repeat
    // could not be read from the journal; the table has no answer and may send it again.
    Result<void> decide(const Recipient& from, const linkproto::CommandReceived& received);
    // Suspends a table that has counted other wagers than the journal.
    void checkWagerCount(std::uint32_t table, const linkproto::WagerCountReport& report);
    Result<void> repeat(const Recipient& from, const linkproto::CommandReceived& received);
    void reject(const Recipient& from, std::uint64_t number, linkproto::RejectionReason reason,
                const std::string& detail);
    void rejectConflict(const Recipient& from, std::uint64_t number, const std::string& detail);
    void countRefusal(std::uint32_t table);
    void suspend(std::uint32_t table, const std::string& code, const std::string& detail);
    Minute& minuteOf(std::uint32_t table);

    const std::filesystem::path directory_;
    TableLimits limits_;
    Decider& decider_;
    Alarms& alarms_;
    RestoreGuard& guard_;
    Replies& replies_;
    WriterMetrics& metrics_;
    const Log& log_;
    const Commit commit_;
    std::vector<Minute> minutes_;  // by table
    Absences absences_;
};

}  // namespace jackpot
