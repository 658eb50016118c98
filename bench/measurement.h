// Timing, medians and targets for the benchmarks.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace jackpot {

using Clock = std::chrono::steady_clock;

inline double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

inline double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values.at(values.size() / 2);
}

// Prints one line with the figure, its target and "met" or "MISSED", and returns whether it is met.
// ./dev bench collects these lines into its closing table: `what` must be clear without context.
inline bool checkTarget(const std::string& what, double figure, double bound, bool atLeast = true)
{
    const bool good = atLeast ? figure >= bound : figure <= bound;
    std::printf("  %-66s %12.2f   %-8s %12.2f: %s\n", what.c_str(), figure,
                atLeast ? "at least" : "at most", bound, good ? "met" : "MISSED");
    std::fflush(stdout);
    return good;
}

}  // namespace jackpot
