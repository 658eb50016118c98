// The people whom a record names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/record.h"

namespace jackpot::console {

inline std::string joinedTexts(const std::vector<std::string>& texts, std::string_view between)
{
    std::string joined;
    for (const std::string& each : texts) {
        if (!joined.empty()) joined += between;
        joined += each;
    }
    return joined;
}

// Those who gave the command. A name that came over the link is only what the table reported:
// "Ann, as table BJ01 says".
inline std::vector<std::string> peopleIn(const audit::Payload& record)
{
    rules::People people = std::visit(
        [](const auto& each) -> rules::People {
            if constexpr (requires { each.by; })
                return each.by;
            else
                return {};
        },
        *record.record().command);
    if (record.record().from)
        for (std::string& name : people)
            name += ", as table " + std::string{record.table()} + " says";
    return people;
}

}  // namespace jackpot::console
