#include "tools/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "audit/output.h"

namespace jackpot::cli {

Progress::Progress(std::string what)
    : what_{std::move(what)}, terminal_{::isatty(STDERR_FILENO) == 1}
{}

void Progress::show(std::uint64_t done, std::uint64_t total)
{
    if (!terminal_) return;
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds{200} && done < total) return;
    last_ = now;
    const auto elapsedMs = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(now - start_).count());
    const std::uint64_t perSecond = elapsedMs == 0 ? 0 : done * 1000 / elapsedMs;
    constexpr std::uint64_t kBar = 20;
    const std::uint64_t filled = total == 0 ? kBar : std::min(kBar, done * kBar / total);
    std::string text = "\r\x1b[K" + what_ + " [" + std::string(filled, '#') +
                       std::string(kBar - filled, '.') + "] " +
                       std::to_string(total == 0 ? 100 : done * 100 / total) + " %  " +
                       audit::grouped(done) + " of " + audit::grouped(total) + " records, " +
                       audit::grouped(perSecond) + " a second";
    if (perSecond > 0 && done < total)
        text += ", " + audit::grouped((total - done) / perSecond + 1) + " s left";
    [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
    shown_ = true;
}

void Progress::clear()
{
    if (!shown_) return;
    shown_ = false;
    constexpr std::string_view kClear = "\r\x1b[K";
    [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, kClear.data(), kClear.size());
}

}  // namespace jackpot::cli
