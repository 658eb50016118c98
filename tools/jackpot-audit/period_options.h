// The options --from, --to, --month and --timezone-offset.
#pragma once

#include <optional>
#include <string>

#include "base/iso_time.h"
#include "tools/cli/command_error.h"
#include "tools/cli/command_line.h"

namespace jackpot::auditor {

struct PeriodOptions {
    std::optional<std::string> from;
    std::optional<std::string> to;
    std::optional<std::string> month;
    std::optional<std::string> timezone;
};

inline void addFromAndTo(cli::Command& command, PeriodOptions& period)
{
    command
        .option("--from TIME", period.from,
                "only records from this time on: 2026-05-01, 2026-05-01T12:00:00.000Z or Unix "
                "milliseconds")
        .option("--to TIME", period.to, "only records before this time");
}

inline void addMonthAndTimezone(cli::Command& command, PeriodOptions& period)
{
    command
        .option("--month YYYY-MM", period.month,
                "only records of this month; not with --from and --to")
        .option("--timezone-offset +HH:MM", period.timezone,
                "the zone of days, months and times without one; +00:00 (UTC) unless given");
}

// A UsageError if a time is not well formed.
inline Period readPeriod(const PeriodOptions& period)
{
    const auto read = periodOf({period.from, period.to, period.month, period.timezone});
    if (!read) throw cli::UsageError{"--" + read.error().message};
    return *read;
}

}  // namespace jackpot::auditor
