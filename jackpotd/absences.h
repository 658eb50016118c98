// The tables that are offline, and since when: each absence is reported once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "rules/commands.h"

namespace jackpot {

class Absences {
public:
    // A table that is absent already stays so.
    void begin(std::uint32_t table, rules::TimeMs now)
    {
        if (current_.size() <= table) current_.resize(table + std::size_t{1});
        if (current_[table] != 0) return;
        current_[table] = ++count_;
        waiting_.push_back({table, count_, now});
    }
    void end(std::uint32_t table)
    {
        if (table < current_.size()) current_[table] = 0;
    }
    // The next table that is absent for more than `limitMs` and was not returned before.
    std::optional<std::uint32_t> takeLonger(std::int64_t limitMs, rules::TimeMs now)
    {
        while (!waiting_.empty()) {
            const Absence first = waiting_.front();
            const bool isOver = current_[first.table] != first.number;
            if (!isOver && now - first.sinceMs <= limitMs) return std::nullopt;
            waiting_.pop_front();
            if (!isOver) return first.table;
        }
        return std::nullopt;
    }

private:
    struct Absence {
        std::uint32_t table = 0;
        std::uint64_t number = 0;
        rules::TimeMs sinceMs = 0;
    };

    std::deque<Absence> waiting_;         // not reported, the oldest first
    std::vector<std::uint64_t> current_;  // by table: the number of its absence; 0: connected
    std::uint64_t count_ = 0;
};

}  // namespace jackpot
