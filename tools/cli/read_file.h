#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace jackpot::cli {

// The whole file. A CommandError if it cannot be read or has more than `maxBytes`.
std::string readFile(const std::filesystem::path& file, std::size_t maxBytes);

}  // namespace jackpot::cli
