// The time in the journal: the wall clock at the start plus monotonic time since, never before the
// last record. A change of the wall clock while the daemon runs has no effect.
#pragma once

#include <algorithm>
#include <chrono>

#include "rules/commands.h"

namespace jackpot {

class JournalClock {
public:
    explicit JournalClock(rules::TimeMs notBefore)
        : startMs_{std::max(notBefore, sinceEpoch<std::chrono::system_clock>())}
    {}
    [[nodiscard]] rules::TimeMs now() const
    {
        return startMs_ + std::chrono::duration_cast<std::chrono::milliseconds>(
                              std::chrono::steady_clock::now() - start_)
                              .count();
    }

private:
    template <class Clock>
    static rules::TimeMs sinceEpoch()
    {
        return std::chrono::duration_cast<std::chrono::milliseconds>(
                   Clock::now().time_since_epoch())
            .count();
    }
    rules::TimeMs startMs_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace jackpot
