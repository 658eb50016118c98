// What the benchmarks measure with and how they say it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
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

// Whether the figure keeps its bound.
inline bool report(const char* what, double figure, double bound, bool atLeast = true)
{
    const bool good = atLeast ? figure >= bound : figure <= bound;
    std::printf("  %-66s %8.2f   %s %.2f: %s\n", what, figure, atLeast ? "at least" : "at most",
                bound, good ? "yes" : "NO");
    std::fflush(stdout);
    return good;
}

}  // namespace jackpot
