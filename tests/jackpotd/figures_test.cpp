// Counters, and the limit for a flood of log messages.
#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "jackpotd/log.h"
#include "jackpotd/writer_metrics.h"

namespace jackpot {
namespace {

// Redirects standard error to a file while the object lives.
class Caught {
public:
    Caught() : before_{::dup(STDERR_FILENO)}
    {
        const int file = ::mkstemp(name_.data());
        REQUIRE(file >= 0);
        ::dup2(file, STDERR_FILENO);
        ::close(file);
    }
    Caught(const Caught&) = delete;
    Caught& operator=(const Caught&) = delete;
    ~Caught()
    {
        ::dup2(before_, STDERR_FILENO);
        ::close(before_);
        ::unlink(name_.c_str());
    }
    [[nodiscard]] std::vector<std::string> lines() const
    {
        std::ifstream file{name_};
        std::vector<std::string> all;
        for (std::string line; std::getline(file, line);) all.push_back(line);
        return all;
    }

private:
    std::string name_ = "/tmp/jackpot_log.XXXXXX";
    int before_;
};

}  // namespace

TEST_CASE("a histogram counts a value at the first bound that is not below it")
{
    Histogram<3> histogram{{1, 10, 100}};
    for (const std::uint64_t value : {0U, 1U, 2U, 10U, 11U, 100U, 101U, 5000U})
        histogram.add(value);
    std::vector<std::uint64_t> counts;
    for (const Count& each : histogram.counts()) counts.push_back(each.value());
    CHECK(counts == std::vector<std::uint64_t>{2, 2, 2, 2});
    CHECK(histogram.sum() == 5225);
    CHECK(sumOf(histogram.counts()) == 8);
}

TEST_CASE("an alarm is counted under its code, and an unknown code under the last counter")
{
    CHECK(kAlarmCodes.at(alarmIndex("malformed_command")) == "malformed_command");
    CHECK(kAlarmCodes.at(alarmIndex("wager_count")) == "wager_count");
    CHECK(kAlarmCodes.at(alarmIndex("a new one")) == "other");
}

TEST_CASE("a flood of one class of messages is limited and summarised, and hides no other class")
{
    const Caught caught;
    {
        const Log log{config::LogLevel::Warning};
        for (int i = 1; i <= 250; ++i) log.warning("bad frame " + std::to_string(i));
        CHECK(caught.lines().size() == Log::kMaxInPeriod);
        log.error("another place");
        for (const char* const code : {"malformed_command", "conflict"})
            for (int i = 0; i < 60; ++i) log.error("by code", {.code = code});
        log.information("too quiet to be written or counted");
        CHECK(caught.lines().size() == 100 + 1 + 120);
        CHECK(log.suppressed() == 150);
        CHECK(log.written(config::LogLevel::Warning) == 100);
        CHECK(log.written(config::LogLevel::Error) == 121);

        log.reportSuppressed();  // the period is not over
        CHECK(caught.lines().size() == 221);
        log.reportSuppressed(Log::Clock::now() + Log::kPeriod);
        CHECK(caught.lines().back() ==
              "jackpotd: warning: suppressed 150 more messages, the last: bad frame 250");
        log.reportSuppressed(Log::Clock::now() + Log::kPeriod);  // once
        CHECK(caught.lines().size() == 222);

        for (int i = 1; i <= 101; ++i) log.warning("the end\nof it");
    }
    CHECK(caught.lines().back() ==
          "jackpotd: warning: suppressed 1 more messages, the last: the end of it");
}

TEST_CASE("messages that concurrent threads lose are counted")
{
    const Caught caught;
    const Log log{config::LogLevel::Debug};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&log] {
                for (int j = 0; j < 100; ++j) {
                    log.debug("one of many");
                    log.reportSuppressed();
                }
            });
    }
    CHECK(log.written(config::LogLevel::Debug) + log.suppressed() == 400);
    CHECK(caught.lines().size() == Log::kMaxInPeriod);
}

}  // namespace jackpot
