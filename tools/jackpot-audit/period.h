// The period that --from, --to, --month and --timezone-offset select.
#pragma once

#include "base/iso_time.h"
#include "tools/jackpot-audit/cli.h"

namespace jackpot::audit {

inline constexpr Option kFromOption{"--from", Option::Form::Value};
inline constexpr Option kToOption{"--to", Option::Form::Value};
inline constexpr Option kMonthOption{"--month", Option::Form::Value};
inline constexpr Option kZoneOption{"--timezone-offset", Option::Form::Value};

inline Period periodOf(const Arguments& arguments)
{
    const auto period =
        jackpot::periodOf({arguments.value("--from"), arguments.value("--to"),
                           arguments.value("--month"), arguments.value("--timezone-offset")});
    if (!period) arguments.refuse("--" + period.error().message);
    return *period;
}

}  // namespace jackpot::audit
