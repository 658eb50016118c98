// Lines for the system's journal on standard error, with syslog's level in front as systemd reads
// it. Any thread.
#pragma once

#include <atomic>
#include <string_view>

#include "config/config.h"

namespace jackpot {

class Log {
public:
    explicit Log(config::LogLevel level) : level_{level} {}

    void setLevel(config::LogLevel level) { level_ = level; }
    void write(config::LogLevel level, std::string_view text) const;
    void error(std::string_view text) const { write(config::LogLevel::Error, text); }
    void warning(std::string_view text) const { write(config::LogLevel::Warning, text); }
    void information(std::string_view text) const { write(config::LogLevel::Information, text); }
    void debug(std::string_view text) const { write(config::LogLevel::Debug, text); }

private:
    std::atomic<config::LogLevel> level_;
};

}  // namespace jackpot
