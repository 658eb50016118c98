// What the daemon has to say: to systemd's journal, with fields, where standard error is connected
// to it, else as lines on standard error. Any thread.
//
// A flood must not fill the disk: at most kMaxInPeriod messages of one class are written in
// kPeriod. A class is a place in the code and a code. The number of suppressed messages is logged
// afterwards.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>

#include "config/config.h"

namespace jackpot {

// Fields of a message in systemd's journal: JACKPOT_TABLE, JACKPOT_POOL, JACKPOT_CODE. The code is
// one of a fixed set, never text from a peer.
struct LogFields {
    std::string_view table{};
    std::string_view pool{};
    std::string_view code{};
};

class Log {
public:
    static constexpr std::uint64_t kMaxInPeriod = 100;
    static constexpr std::chrono::seconds kPeriod{60};
    static constexpr std::size_t kLevels = 4;

    using Place = std::source_location;
    using Clock = std::chrono::steady_clock;

    explicit Log(config::LogLevel level);
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    ~Log();  // logs the numbers of suppressed messages

    void setLevel(config::LogLevel level) { level_ = level; }
    [[nodiscard]] bool isOn(config::LogLevel level) const { return level <= level_; }
    void error(std::string_view text, const LogFields& fields = {},
               const Place& place = Place::current()) const
    {
        write(config::LogLevel::Error, text, fields, place);
    }
    void warning(std::string_view text, const LogFields& fields = {},
                 const Place& place = Place::current()) const
    {
        write(config::LogLevel::Warning, text, fields, place);
    }
    void information(std::string_view text, const LogFields& fields = {},
                     const Place& place = Place::current()) const
    {
        write(config::LogLevel::Information, text, fields, place);
    }
    void debug(std::string_view text, const LogFields& fields = {},
               const Place& place = Place::current()) const
    {
        write(config::LogLevel::Debug, text, fields, place);
    }

    // Logs how many messages were suppressed in periods that have ended by `now`. Call it
    // regularly.
    void reportSuppressed(Clock::time_point now = Clock::now()) const;

    // Since the start.
    [[nodiscard]] std::uint64_t written(config::LogLevel level) const;
    [[nodiscard]] std::uint64_t suppressed() const { return suppressed_; }

private:
    struct Class {
        config::LogLevel level{};
        Clock::time_point begun;
        std::uint64_t written = 0;
        std::uint64_t suppressed = 0;
        std::string last;  // suppressed message
        std::string code;
    };
    using Key = std::tuple<std::string_view, std::uint_least32_t, std::string>;

    void write(config::LogLevel level, std::string_view text, const LogFields& fields,
               const Place& place) const;
    void put(config::LogLevel level, std::string_view text, const LogFields& fields) const;

    const bool toJournal_;
    std::atomic<config::LogLevel> level_;
    mutable std::array<std::atomic<std::uint64_t>, kLevels> written_{};
    mutable std::atomic<std::uint64_t> suppressed_{0};
    mutable std::mutex mutex_;
    mutable std::map<Key, Class> classes_;
};

}  // namespace jackpot
