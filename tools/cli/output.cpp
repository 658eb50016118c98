#include "tools/cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tools/cli/command_error.h"

namespace jackpot::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void throwUnwritable(const fs::path& name, int error)
{
    throw CommandError{kBadInput, (name.empty() ? "standard output" : name.string()) +
                                      ": it cannot be written: " + audit::systemError(error)};
}

[[noreturn]] void throwExists(const fs::path& name)
{
    throw CommandError{kBadInput,
                       name.string() + ": a file of that name exists: choose another name"};
}

fs::path directoryOf(const fs::path& name)
{
    return name.has_parent_path() ? name.parent_path() : fs::path{"."};
}

}  // namespace

FileOutput::FileOutput() : descriptor_{STDOUT_FILENO} {}

FileOutput::FileOutput(fs::path file) : descriptor_{-1}, name_{std::move(file)}
{
    struct stat found {};
    if (::stat(name_.c_str(), &found) == 0) {
        if (S_ISREG(found.st_mode)) throwExists(name_);
        descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (descriptor_ < 0) throwUnwritable(name_, errno);
        return;
    }
    direct_ = false;
    const fs::path directory = directoryOf(name_);
    descriptor_ = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
    if (descriptor_ >= 0) return;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) throwUnwritable(name_, errno);
    temporary_ = name_.string() + ".part-" + std::to_string(::getpid());
    descriptor_ = ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (descriptor_ >= 0) return;
    const int error = errno;
    temporary_.clear();
    throwUnwritable(name_, error);
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
        if (written < 0) throwUnwritable(name_, errno);
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
    if (::fsync(descriptor_) != 0) throwUnwritable(name_, errno);
    const std::string from = temporary_.empty() ? "/proc/self/fd/" + std::to_string(descriptor_)
                                                : std::exchange(temporary_, {});
    const bool linked =
        ::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, name_.c_str(), AT_SYMLINK_FOLLOW) == 0;
    const int error = errno;
    if (!from.starts_with("/proc/")) ::unlink(from.c_str());
    if (linked) return;
    if (error == EEXIST) throwExists(name_);
    throwUnwritable(name_, error);
}

void FileOutput::undo()
{
    if (!direct_) ::unlink(name_.c_str());
}

bool standardOutputIsTerminal() { return ::isatty(STDOUT_FILENO) == 1; }

}  // namespace jackpot::cli
