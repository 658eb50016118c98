// Alarms: a line in the log, a record in the journal, and a count. Used in the writer's turn only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "jackpotd/decider.h"
#include "jackpotd/log.h"
#include "jackpotd/writer_metrics.h"

namespace jackpot {

class Alarms {
public:
    // The others outlive it.
    Alarms(Decider& decider, WriterMetrics& metrics, const Log& log)
        : decider_{decider}, metrics_{metrics}, log_{log}
    {}

    void raise(const std::string& code, const std::string& detail);
    // Each alarm is counted; at most one a minute of each code and table is logged and journaled.
    void raiseForTable(std::uint32_t table, const std::string& code, const std::string& detail);

private:
    void record(const std::string& table, const std::string& code, const std::string& detail);

    Decider& decider_;
    WriterMetrics& metrics_;
    const Log& log_;
    std::vector<std::unordered_map<std::string, rules::TimeMs>> lastRecordedMs_;  // by table, code
};

}  // namespace jackpot
