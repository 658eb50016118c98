#include "tools/jackpot-audit/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "tools/jackpot-audit/cli.h"

namespace jackpot::audit {
namespace {

namespace fs = std::filesystem;

volatile std::sig_atomic_t signalled = 0;

[[noreturn]] void cannotWrite(const fs::path& name, int error)
{
    throw Stop{kBadInput, (name.empty() ? "standard output" : name.string()) +
                              ": it cannot be written: " + systemError(error)};
}

[[noreturn]] void isThere(const fs::path& name)
{
    throw Stop{kBadInput, name.string() + ": there is a file of that name: name another"};
}

fs::path directoryOf(const fs::path& name)
{
    return name.has_parent_path() ? name.parent_path() : fs::path{"."};
}

}  // namespace

// --- Output
// ----------------------------------------------------------------------------------------------

FileOutput::FileOutput() : descriptor_{STDOUT_FILENO} {}

FileOutput::FileOutput(fs::path file) : descriptor_{-1}, name_{std::move(file)}
{
    struct stat found {};
    if (::stat(name_.c_str(), &found) == 0) {
        if (S_ISREG(found.st_mode)) isThere(name_);
        descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (descriptor_ < 0) cannotWrite(name_, errno);
        return;
    }
    direct_ = false;
    const fs::path directory = directoryOf(name_);
    descriptor_ = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
    if (descriptor_ >= 0) return;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) cannotWrite(name_, errno);
    temporary_ = name_.string() + ".part-" + std::to_string(::getpid());
    descriptor_ = ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (descriptor_ >= 0) return;
    const int error = errno;
    temporary_.clear();
    cannotWrite(name_, error);
}

FileOutput::FileOutput(FileOutput&& other) noexcept
    : Output{std::move(other)},
      descriptor_{std::exchange(other.descriptor_, -1)},
      name_{std::move(other.name_)},
      temporary_{std::exchange(other.temporary_, {})},
      direct_{other.direct_},
      buffer_{std::move(other.buffer_)}
{}

FileOutput::~FileOutput()
{
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
}

void FileOutput::flush()
{
    std::string_view rest = buffer_;
    while (!rest.empty()) {
        const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) cannotWrite(name_, errno);
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    buffer_.clear();
}

void FileOutput::lines(std::string_view text)
{
    if (descriptor_ != STDOUT_FILENO || !standardOutputIsTerminal()) return write(text);
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string_view one = text.substr(0, end);
        if (one.ends_with('\r')) one.remove_suffix(1);
        line(one);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

void FileOutput::commit()
{
    flush();
    if (direct_) return;
    if (::fsync(descriptor_) != 0) cannotWrite(name_, errno);
    const std::string from = temporary_.empty() ? "/proc/self/fd/" + std::to_string(descriptor_)
                                                : std::exchange(temporary_, {});
    const bool linked =
        ::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, name_.c_str(), AT_SYMLINK_FOLLOW) == 0;
    const int error = errno;
    if (!from.starts_with("/proc/")) ::unlink(from.c_str());
    if (linked) return;
    if (error == EEXIST) isThere(name_);
    cannotWrite(name_, error);
}

void FileOutput::undo()
{
    if (!direct_) ::unlink(name_.c_str());
}

bool standardOutputIsTerminal() { return ::isatty(STDOUT_FILENO) == 1; }

// --- Progress
// --------------------------------------------------------------------------------------------

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
    std::string text =
        "\r\x1b[K" + what_ + " [" + std::string(filled, '#') + std::string(kBar - filled, '.') +
        "] " + std::to_string(total == 0 ? 100 : done * 100 / total) + " %  " + grouped(done) +
        " of " + grouped(total) + " records, " + grouped(perSecond) + " a second";
    if (perSecond > 0 && done < total)
        text += ", " + grouped((total - done) / perSecond + 1) + " s left";
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

// --- signals
// ---------------------------------------------------------------------------------------------

void rememberInterrupts()
{
    struct sigaction action {};
    action.sa_handler = [](int) { signalled = 1; };
    for (const int number : {SIGINT, SIGTERM}) {
        struct sigaction before {};
        // Who started us in the background has SIGINT ignored, and so it stays.
        if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
            ::sigaction(number, &action, nullptr);
    }
}

bool interrupted() { return signalled != 0; }

void stopIfInterrupted()
{
    if (interrupted()) throw Stop{kInterrupted, "interrupted"};
}

}  // namespace jackpot::audit
