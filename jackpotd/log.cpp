#include "jackpotd/log.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace jackpot {

void Log::write(config::LogLevel level, std::string_view text) const
{
    if (level > level_) return;
    // Without systemd the level would only be noise.
    static const bool toSystemd = std::getenv("JOURNAL_STREAM") != nullptr;
    constexpr std::string_view kPriorities = "3467";
    std::string line;
    if (toSystemd)
        line = std::string{"<"} + kPriorities[static_cast<std::size_t>(level)] + ">";
    else
        line = "jackpotd: " + std::string{idOf(level)} + ": ";
    // What a peer sent must not make lines of its own.
    for (const char c : text) line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    line += '\n';
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace jackpot
