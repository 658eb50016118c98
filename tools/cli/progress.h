// A progress line on the terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace jackpot::cli {

// "12 % 1,200,000 of 10,000,000 records, 250,000 a second, 35 s left" on standard error, if that
// is a terminal. One thread at a time.
class Progress {
public:
    explicit Progress(std::string what);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { clear(); }

    void show(std::uint64_t done, std::uint64_t total);
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    std::string what_;
    bool shown_ = false;
    bool terminal_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_;
};

}  // namespace jackpot::cli
