#include "jackpotd/log.h"

#define SD_JOURNAL_SUPPRESS_LOCATION  // the location would be this file
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>
#include <vector>

namespace jackpot {
namespace {

using config::LogLevel;

constexpr std::string_view kPriorities = "3467";  // syslog's, by LogLevel

// systemd.exec(5): the variable names the device and the inode, because a process with another
// standard error may inherit it.
bool isConnectedToJournal(int descriptor)
{
    const char* const stream = std::getenv("JOURNAL_STREAM");
    struct stat status {};
    return stream && ::fstat(descriptor, &status) == 0 &&
           stream == std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

// Text from a peer must not add lines to the log.
std::string inOneLine(std::string_view text)
{
    std::string line{text};
    for (char& c : line)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return line;
}

}  // namespace

Log::Log(LogLevel level) : toJournal_{isConnectedToJournal(STDERR_FILENO)}, level_{level} {}

Log::~Log() { reportSuppressed(Clock::now() + kPeriod); }

void Log::write(LogLevel level, std::string_view text, const LogFields& given,
                const Place& place) const
{
    if (!isOn(level)) return;
    const Clock::time_point now = Clock::now();
    reportSuppressed(now);
    {
        const std::scoped_lock lock{mutex_};
        Class& mine = classes_[Key{place.file_name(), place.line(), given.code}];
        // A class with suppressed messages is reset only by reportSuppressed(), which logs them.
        if (mine.written == 0 || (now - mine.begun >= kPeriod && mine.suppressed == 0))
            mine = {level, now, 0, 0, {}, std::string{given.code}};
        if (mine.written >= kMaxInPeriod) {
            ++mine.suppressed;
            mine.last = text;
            ++suppressed_;
            return;
        }
        ++mine.written;
    }
    put(level, text, given);
}

void Log::reportSuppressed(Clock::time_point now) const
{
    std::vector<Class> over;
    {
        const std::scoped_lock lock{mutex_};
        for (auto& [key, each] : classes_) {
            if (each.suppressed == 0 || now - each.begun < kPeriod) continue;
            over.push_back(std::move(each));
            each = {};
        }
    }
    for (const Class& each : over)
        put(each.level,
            "suppressed " + std::to_string(each.suppressed) +
                " more messages, the last: " + each.last,
            {.code = each.code});
}

void Log::put(LogLevel level, std::string_view text, const LogFields& given) const
{
    ++written_[static_cast<std::size_t>(level)];
    const std::string line = inOneLine(text);
    if (toJournal_) {
        std::vector<std::string> fields{
            "MESSAGE=" + line,
            std::string{"PRIORITY="} + kPriorities[static_cast<std::size_t>(level)],
            "SYSLOG_IDENTIFIER=jackpotd"};
        const auto add = [&fields](const char* name, std::string_view value) {
            if (!value.empty()) fields.push_back(name + std::string{value});
        };
        add("JACKPOT_TABLE=", given.table);
        add("JACKPOT_POOL=", given.pool);
        add("JACKPOT_CODE=", given.code);
        std::vector<iovec> pieces;
        pieces.reserve(fields.size());
        for (std::string& each : fields) pieces.push_back({each.data(), each.size()});
        if (::sd_journal_sendv(pieces.data(), static_cast<int>(pieces.size())) == 0) return;
    }
    const std::string whole = "jackpotd: " + std::string{idOf(level)} + ": " + line + "\n";
    [[maybe_unused]] const auto done = ::write(STDERR_FILENO, whole.data(), whole.size());
}

std::uint64_t Log::written(LogLevel level) const
{
    return written_[static_cast<std::size_t>(level)];
}

}  // namespace jackpot
