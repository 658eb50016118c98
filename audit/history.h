// What the pools displayed over a period, with few points, and what was done to them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "audit/report.h"
#include "rules/site.h"

namespace jackpot::audit {

struct HistoryPoint {
    TimeMs timeMs = 0;
    rules::Money displayed;
    bool operator==(const HistoryPoint&) const = default;
};

// A record with a jackpot, or one after which the pool was brought up to its minimum, or both.
struct HistoryEvent {
    std::uint64_t seq = 0;
    TimeMs timeMs = 0;
    bool win = false;
    bool reset = false;
    rules::Money before;
    rules::Money after;
};

struct PoolHistory {
    std::optional<rules::PoolConfig> config;  // at the end of the period
    bool suspended = false;                   // then
    rules::Money meter;                       // then
    rules::Money reserve;                     // then
    // A step line: each amount stands until the next. Of each of kHistoryParts parts of the period
    // the last, the lowest and the highest where they go beyond, and both sides of every event.
    std::vector<HistoryPoint> points;
    std::vector<HistoryEvent> events;
    HistoryPoint lowest;
    HistoryPoint highest;
};

inline constexpr std::int64_t kHistoryParts = 190;

// What people and keys did, in words.
struct Incident {
    std::uint64_t seq = 0;
    TimeMs timeMs = 0;
    std::string kind;
    std::vector<std::string> words;
    std::string refusal;  // the code; empty where it was not refused
};

struct History {
    // Of the period's first and last record; none where it has no record.
    std::optional<TimeMs> firstMs;
    TimeMs lastMs = 0;
    std::map<std::string, PoolHistory, std::less<>> pools;
    // Changes of the site and of parameters, suspensions, adjustments, what was withheld, keys.
    std::vector<Incident> incidents;
};

History collectHistory(JournalView& journal, const ReportRequest& request,
                       const std::vector<std::string>& pools);

}  // namespace jackpot::audit
