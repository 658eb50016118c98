#include "console/desk/notifier.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <utility>

#include "base/iso_time.h"
#include "console/desk/wall_clock.h"
#include "storage/sqlite.h"

namespace jackpot::console {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPollInterval{20};
constexpr std::size_t kMaxPending = 100;
// Fits into a pipe, so that writing never blocks.
constexpr std::size_t kMaxTextBytes = 8000;

std::string jsonOf(const NoticeRow& notice)
{
    std::string text;
    storage::JsonText json{text};
    json.beginObject();
    json.textField("notice", notice.id);
    json.numberField("record", static_cast<std::int64_t>(notice.seq));
    json.textField("utc", isoTime(notice.timeMs));
    json.textField("whom", notice.whom);
    json.textField("rule", notice.rule);
    json.textField("text", std::string_view{notice.text}.substr(0, kMaxTextBytes));
    json.endObject();
    return text + "\n";
}

// Starts the program; -1 on failure.
pid_t startProgram(std::vector<std::string> command, const std::string& input)
{
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return -1;
    // The read end is still open here, so writing cannot raise SIGPIPE.
    const bool written =
        ::write(ends[1], input.data(), input.size()) == static_cast<ssize_t>(input.size());
    ::close(ends[1]);

    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_adddup2(&files, ends[0], STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    // The daemon blocks some signals and ignores others; the program gets the defaults. It leads a
    // process group, so that its children can be killed with it.
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::vector<char*> arguments;
    for (std::string& each : command) arguments.push_back(each.data());
    arguments.push_back(nullptr);
    std::string path = "PATH=/usr/local/bin:/usr/bin:/bin";
    std::array<char*, 2> environment{path.data(), nullptr};
    pid_t program = -1;
    if (!written || ::posix_spawn(&program, arguments[0], &files, &attributes, arguments.data(),
                                  environment.data()) != 0)
        program = -1;
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    ::close(ends[0]);
    return program;
}

}  // namespace

Notifier::Notifier(NotifierSettings settings, Controller controller, const SearchIndex& index,
                   ChangeSignal& changes)
    : settings_{std::move(settings)},
      controller_{std::move(controller)},
      index_{index},
      changes_{changes}
{
    if (!settings_.now) settings_.now = wallClockMs;
    if (settings_.command.empty() && !settings_.syslog) return;
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

Notifier::~Notifier() = default;

void Notifier::run(const std::stop_token& stop)
{
    std::optional<std::uint64_t> indexed;
    Clock::time_point nextTry = ChangeSignal::kForever;
    while (!stop.stop_requested()) {
        const std::uint32_t seen = changes_.count();
        const Clock::time_point now = Clock::now();
        if (const std::uint64_t size = index_.size(); size != indexed || now >= nextTry) {
            indexed = size;
            nextTry = deliverPending(stop);
        }
        sleepUntil(now + settings_.minInterval, stop);
        changes_.wait(seen, nextTry, stop);
    }
}

Clock::time_point Notifier::deliverPending(const std::stop_token& stop)
{
    NoticeQuery waiting;
    waiting.delivery = "";
    waiting.fromMs = settings_.now() - settings_.maxAge.count();
    waiting.limit = kMaxPending;
    const auto found = index_.notices(waiting);
    if (!found) return Clock::now();
    const std::vector<NoticeRow>& all = *found;
    std::erase_if(attempts_, [&](const auto& each) {
        return std::ranges::find(all, each.first, &NoticeRow::id) == all.end();
    });
    std::vector<NoticeRow> due;
    for (const NoticeRow& each : all) {
        const auto before = attempts_.find(each.id);
        if (due.size() < settings_.maxParallel &&
            (before == attempts_.end() || before->second.nextAt <= Clock::now()))
            due.push_back(each);
    }
    const std::vector<bool> delivered = runPrograms(due, stop);
    if (stop.stop_requested()) return ChangeSignal::kForever;
    for (std::size_t i = 0; i < due.size(); ++i) {
        DeliveryAttempts& attempts = attempts_[due[i].id];
        if (settings_.syslog && attempts.count == 0)
            ::syslog(LOG_DAEMON | LOG_WARNING, "notice %s to %s (%s): %s", due[i].id.c_str(),
                     due[i].whom.c_str(), due[i].rule.c_str(), due[i].text.c_str());
        ++attempts.count;
        attempts.nextAt = Clock::now() + settings_.retryDelay;
        if (delivered[i] || attempts.count >= settings_.maxAttempts) record(due[i], delivered[i]);
    }
    Clock::time_point nextTry = ChangeSignal::kForever;
    for (const NoticeRow& each : all) nextTry = std::min(nextTry, attempts_[each.id].nextAt);
    return nextTry;
}

// Once the search index has this event, the notice no longer waits. Until then it is not retried.
void Notifier::record(const NoticeRow& notice, bool delivered)
{
    const auto appended = controller_.appendEvent(
        delivered ? "notice_delivered" : "notice_failed", [&](storage::JsonText& json) {
            json.textField("notice", notice.id);
            json.boolField("program", !settings_.command.empty());
            json.boolField("syslog", settings_.syslog);
        });
    if (appended) attempts_[notice.id].nextAt = Clock::time_point::max();
}

std::vector<bool> Notifier::runPrograms(const std::vector<NoticeRow>& notices,
                                        const std::stop_token& stop)
{
    std::vector<bool> succeeded(notices.size(), settings_.command.empty());
    if (settings_.command.empty()) return succeeded;
    std::vector<pid_t> programs;
    for (const NoticeRow& each : notices)
        programs.push_back(startProgram(settings_.command, jsonOf(each)));
    const auto deadline = Clock::now() + settings_.programTimeout;
    std::size_t running = programs.size();
    while (running > 0) {
        const bool timedOut = Clock::now() > deadline || stop.stop_requested();
        running = 0;
        for (std::size_t i = 0; i < programs.size(); ++i) {
            if (programs[i] <= 0) continue;
            siginfo_t ended{};
            const int waitResult = ::waitid(P_PID, static_cast<id_t>(programs[i]), &ended,
                                            WEXITED | WNOHANG | WNOWAIT);
            if (waitResult == 0 && ended.si_pid == 0 && !timedOut) {
                ++running;
                continue;
            }
            const pid_t program = std::exchange(programs[i], -1);
            if (waitResult != 0) continue;  // not our child any more
            // Kill its whole group. It is not reaped yet, so its process id cannot be reused.
            ::kill(-program, SIGKILL);
            int status = 0;
            const bool waited = ::waitpid(program, &status, 0) == program;
            succeeded[i] = waited && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
        if (running > 0) sleepUntil(Clock::now() + kPollInterval, stop);
    }
    return succeeded;
}

}  // namespace jackpot::console
