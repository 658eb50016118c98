// Comparison of person names.
#pragma once

#include <string>
#include <string_view>

#include "base/utf8.h"

namespace jackpot::console {

// The name without white space and with ASCII letters in lower case. Two names with the same folded
// name belong to one person.
inline std::string foldedName(std::string_view name)
{
    std::string folded;
    while (!name.empty()) {
        std::string_view rest = name;
        const auto point = takeCodePoint(rest);
        const std::size_t bytes = point ? name.size() - rest.size() : 1;
        if (point && *point >= U'A' && *point <= U'Z')
            folded += static_cast<char>(*point - U'A' + U'a');
        else if (!point || !isSpace(*point))
            folded += name.substr(0, bytes);
        name.remove_prefix(bytes);
    }
    return folded;
}

inline bool samePerson(std::string_view a, std::string_view b)
{
    return foldedName(a) == foldedName(b);
}

}  // namespace jackpot::console
