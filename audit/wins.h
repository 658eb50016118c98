// The awards of a journal with what became of each.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "audit/report.h"

namespace jackpot::audit {

struct Win {
    std::uint64_t seq;
    TimeMs timeMs;
    storage::RecordedAward award;
    std::string status;  // "", "withdrawn", "withheld", "paid 500.00000000" in sum
    std::uint64_t statusSeq = 0;
};

// The last awards of one kind in one pool.
struct WinList {
    std::deque<Win> wins;
    std::uint64_t count = 0;
};

struct PoolWins {
    WinList jackpots;
    WinList others;
};

using WinsOfPools = std::map<std::string, PoolWins, std::less<>>;

// Of each pool the last `request.last` of each kind in the period, oldest first and in the order of
// payment; what became of them is followed to the journal's end.
WinsOfPools collectWins(JournalView& journal, const ReportRequest& request,
                        const std::vector<std::string>& pools);

// "", "paid $500.00 (record 12)", "WITHHELD (record 12)"
std::string statusInWords(const Win& win);

}  // namespace jackpot::audit
