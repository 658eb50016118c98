#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jackpot::cli {

// "a, b or c" with the word "or".
inline std::string listed(const std::vector<std::string>& words, std::string_view last)
{
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " " + std::string{last} + " " : ", ";
        text += words[i];
    }
    return text;
}

}  // namespace jackpot::cli
