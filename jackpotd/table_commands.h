// What a table sends besides its hello: its commands in the order of their numbers, commands that
// it sends again, its count of wagers, and the limits that it must keep to. Used in the writer's
// turn only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "jackpotd/alarms.h"
#include "jackpotd/decider.h"
#include "jackpotd/log.h"
#include "jackpotd/replies.h"
#include "jackpotd/writer_metrics.h"
#include "linkproto/server/link_server.h"

namespace jackpot {

struct TableLimits {
    std::int64_t refusalsPerMinute = 60;  // more suspend the table
    std::optional<std::int64_t> roundsPerMinute;
};

class TableCommands {
public:
    // Commits the batch so far; false if that failed.
    using Commit = std::function<bool()>;

    // The others outlive it.
    TableCommands(std::filesystem::path journalDirectory, const TableLimits& limits,
                  Decider& decider, Alarms& alarms, Replies& replies, WriterMetrics& metrics,
                  const Log& log, Commit commit);

    void setLimits(const TableLimits& limits) { limits_ = limits; }

    // Decides the command, repeats its decision, or rejects it. An error: the decision to repeat
    // could not be read from the journal; the table has no answer and may send it again.
    Result<void> handle(const Recipient& from, const linkproto::CommandReceived& received);
    // Suspends a table that has counted other wagers than the journal.
    void checkWagerCount(std::uint32_t table, const linkproto::WagerCountReport& report);
    void countMalformed(std::uint32_t table, const std::string& detail);

private:
    struct Minute {
        rules::TimeMs beginMs = 0;
        std::int64_t refusals = 0;
        std::int64_t rounds = 0;
    };

    Result<void> repeat(const Recipient& from, const linkproto::CommandReceived& received);
    void reject(const Recipient& from, std::uint64_t number, linkproto::v1::Rejected::Why reason,
                const std::string& detail);
    void rejectConflict(const Recipient& from, std::uint64_t number, const std::string& detail);
    void countRefusal(std::uint32_t table);
    void suspend(std::uint32_t table, const std::string& code, const std::string& detail);
    Minute& minuteOf(std::uint32_t table);

    const std::filesystem::path directory_;
    TableLimits limits_;
    Decider& decider_;
    Alarms& alarms_;
    Replies& replies_;
    WriterMetrics& metrics_;
    const Log& log_;
    const Commit commit_;
    std::vector<Minute> minutes_;  // by table
};

}  // namespace jackpot
