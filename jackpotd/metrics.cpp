#include "jackpotd/metrics.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

namespace jackpot {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;

using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// "12.000345", "0.5": exact, without floating point.
std::string secondsIn(microseconds time)
{
    constexpr std::int64_t kSecond = 1'000'000;
    std::string rest = std::to_string(kSecond + time.count() % kSecond);
    while (rest.back() == '0') rest.pop_back();
    rest.front() = '.';
    return std::to_string(time.count() / kSecond) + (rest.size() > 1 ? rest : "");
}

std::string secondsOfUs(std::uint64_t us)
{
    return secondsIn(microseconds{static_cast<std::int64_t>(us)});
}

microseconds timeOf(clockid_t clock)
{
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::chrono::seconds{time.tv_sec} + microseconds{time.tv_nsec / 1000};
}

// The wall clock's time of a steady clock's time.
std::string timestampOf(meters::Clock::time_point then)
{
    return secondsIn(timeOf(CLOCK_REALTIME) -
                     std::chrono::duration_cast<microseconds>(meters::Clock::now() - then));
}

// proc(5): the 22nd field, in ticks since boot. The second field may contain any character.
microseconds startOfProcess()
{
    std::ifstream file{"/proc/self/stat"};
    std::string text;
    std::getline(file, text);
    std::istringstream fields{text.substr(text.rfind(')') + 1)};
    std::string skipped;
    for (int i = 3; i < 22; ++i) fields >> skipped;
    std::int64_t ticks = 0;
    fields >> ticks;
    return timeOf(CLOCK_REALTIME) - timeOf(CLOCK_BOOTTIME) +
           microseconds{ticks * 1'000'000 / ::sysconf(_SC_CLK_TCK)};
}

std::int64_t residentBytes()
{
    std::ifstream file{"/proc/self/statm"};
    std::int64_t all = 0;
    std::int64_t resident = 0;
    file >> all >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}

std::size_t filesIn(const fs::path& directory, std::uintmax_t* bytes = nullptr)
{
    std::error_code gone;  // a file may disappear meanwhile
    std::size_t count = 0;
    for (fs::directory_iterator each{directory, gone}, end; !gone && each != end;
         each.increment(gone)) {
        ++count;
        std::error_code error;
        if (bytes && each->is_regular_file(error))
            if (const auto size = each->file_size(error); !error) *bytes += size;
    }
    return count;
}

template <std::size_t... I>
constexpr auto kindsOf(std::index_sequence<I...>)
{
    return std::array{kindOf(rules::Command{std::in_place_index<I>})...};
}

const auto& commandKinds()
{
    static const auto kKinds =
        kindsOf(std::make_index_sequence<std::variant_size_v<rules::Command>>{});
    return kKinds;
}

}  // namespace

class Metrics::Page {
public:
    // The values that follow have this name.
    void family(std::string_view name, std::string_view type, std::string_view help)
    {
        name_ = name;
        text_.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ");
        text_.append(name).append(" ").append(type).append("\n");
    }
    void value(Labels labels, std::string_view value, std::string_view suffix = "")
    {
        text_.append(name_).append(suffix);
        char before = '{';
        for (const auto& [key, label] : labels) {
            (text_ += before).append(key).append("=\"");
            for (const char c : label) {
                if (c == '\\' || c == '"' || c == '\n') text_ += '\\';
                text_ += c == '\n' ? 'n' : c;
            }
            text_ += '"';
            before = ',';
        }
        if (before == ',') text_ += '}';
        text_.append(" ").append(value).append("\n");
    }
    void value(Labels labels, std::uint64_t count) { value(labels, std::to_string(count)); }

    template <class Value>
    void gauge(std::string_view name, std::string_view help, const Value& only)
    {
        family(name, "gauge", help);
        value({}, only);
    }
    template <class Value>
    void counter(std::string_view name, std::string_view help, const Value& only)
    {
        family(name, "counter", help);
        value({}, only);
    }
    // `shown` formats a bound or the sum.
    template <std::size_t N>
    void histogram(std::string_view name, std::string_view help, const Histogram<N>& of,
                   std::string (*shown)(std::uint64_t))
    {
        family(name, "histogram", help);
        std::uint64_t count = 0;
        for (std::size_t i = 0; i <= N; ++i) {
            count += of.counts()[i].value();
            const std::string bound = i < N ? shown(of.bounds()[i]) : "+Inf";
            value({{"le", bound}}, std::to_string(count), "_bucket");
        }
        value({}, shown(of.sum()), "_sum");
        value({}, std::to_string(count), "_count");
    }
    std::string take() { return std::move(text_); }

private:
    std::string text_;
    std::string_view name_;
};

std::string Metrics::text() const
{
    Page page;
    writeProcess(page);
    writeWriter(page);
    writeJournal(page);
    writePools(page);
    writeLink(page);
    writeMeters(page);
    writeDesk(page);
    writeLog(page);
    return page.take();
}

Result<void> Metrics::alive() const
{
    const auto sinceTurn = writer_.sinceLastTurn();
    if (sinceTurn < kAliveWithin) return {};
    return Error{"the writer had no turn for " + std::to_string(sinceTurn.count() / 1000) +
                 " s: the journal's disk does not answer"};
}

Result<void> Metrics::ready() const
{
    if (const std::string_view trouble = writer_.trouble(); !trouble.empty())
        return Error{std::string{trouble} + ": the log says more"};
    const auto sinceTurn = writer_.sinceLastTurn();
    if (sinceTurn < kReadyWithin) return {};
    return Error{"nothing has become durable for " + std::to_string(sinceTurn.count() / 1000) +
                 " s: the journal's disk is slow or does not answer"};
}

console::Monitoring Metrics::forDesk() const
{
    return {[this] { return alive(); }, [this] { return ready(); }, [this] { return text(); }};
}

void Metrics::writeProcess(Page& page) const
{
    page.family("jackpotd_build_info", "gauge", "The program; always 1.");
    page.value({{"version", version_}}, "1");
    page.gauge("jackpotd_ready", "1 while /readyz answers 200.", ready() ? "1" : "0");
    // Computed once: two clocks are never read at the same instant, and another value means a
    // restart.
    static const std::string kStart = secondsIn(startOfProcess());
    page.gauge("process_start_time_seconds", "When the process began, since the epoch.", kStart);
    page.counter("process_cpu_seconds_total", "Processor time of the process.",
                 secondsIn(timeOf(CLOCK_PROCESS_CPUTIME_ID)));
    page.gauge("process_resident_memory_bytes", "Memory that is resident.",
               std::to_string(residentBytes()));
    page.gauge("process_open_fds", "Open file descriptors.", filesIn("/proc/self/fd"));
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    page.gauge("process_max_fds", "File descriptors that may be open.", limit.rlim_cur);
}

void Metrics::writeWriter(Page& page) const
{
    const WriterMetrics& writer = writer_.metrics();
    page.family("jackpotd_commands_total", "counter", "Commands decided, by kind and outcome.");
    for (std::size_t i = 0; i < writer.decided.size(); ++i) {
        const std::string_view kind = commandKinds()[i];
        page.value({{"kind", kind}, {"outcome", "accepted"}}, writer.decided[i].accepted.value());
        page.value({{"kind", kind}, {"outcome", "refused"}}, writer.decided[i].refused.value());
    }
    page.family("jackpotd_refusals_total", "counter", "Commands that the rules refused, by code.");
    for (std::size_t i = 0; i < writer.refusals.size(); ++i)
        page.value({{"code", idOf(static_cast<rules::RefusalCode>(i))}},
                   writer.refusals[i].value());
    page.family("jackpotd_commands_rejected_total", "counter",
                "Commands that were not decided, by reason.");
    using linkproto::v1::Rejected;
    for (const auto& [why, reason] : {std::pair{Rejected::CONFLICT, "conflict"},
                                      {Rejected::OUT_OF_ORDER, "out_of_order"},
                                      {Rejected::TOO_FAST, "too_fast"}})
        page.value({{"reason", reason}}, writer.rejected[static_cast<std::size_t>(why)].value());
    page.counter("jackpotd_commands_repeated_total",
                 "Commands that were sent again and answered with the first decision.",
                 writer.repeated.value());
    page.counter("jackpotd_journal_failed_reads_total",
                 "Reads of the journal that failed; each has disconnected a table, which retries.",
                 writer.failedReads.value());
    page.family("jackpotd_alarms_total", "counter", "Alarms, by code.");
    for (std::size_t i = 0; i < kAlarmCodes.size(); ++i)
        page.value({{"code", kAlarmCodes[i]}}, writer.alarms[i].value());
    page.histogram("jackpotd_commit_duration_seconds", "Time to sign a batch and make it durable.",
                   writer.commitUs, secondsOfUs);
    page.histogram("jackpotd_commit_records", "Records in a commit.", writer.batch,
                   [](std::uint64_t records) { return std::to_string(records); });
    page.gauge("jackpotd_mailbox_commands", "Items that wait for the writer.", writer_.waiting());
    page.gauge("jackpotd_mailbox_capacity", "Items that may wait for the writer.", writer.mailbox);
    page.gauge("jackpotd_writer_seconds_since_last_turn",
               "Since the writer's last turn; at most about 1 while it is healthy.",
               secondsIn(writer_.sinceLastTurn()));
}

void Metrics::writeJournal(Page& page) const
{
    const WriterMetrics& writer = writer_.metrics();
    page.gauge("jackpotd_journal_records", "Records that are signed and durable.",
               writer.records.value());
    page.gauge("jackpotd_journal_last_commit_timestamp_seconds",
               "The time of the last record, since the epoch.",
               secondsOfUs(writer.lastCommitMs.value() * 1000));
    std::uintmax_t bytes = 0;
    filesIn(journalDirectory_, &bytes);
    page.gauge("jackpotd_journal_directory_bytes", "The files in the journal's directory.", bytes);
    struct statvfs disk {};
    if (::statvfs(journalDirectory_.c_str(), &disk) == 0)
        page.gauge("jackpotd_journal_free_bytes", "Free space on the journal's file system.",
                   disk.f_bavail * disk.f_frsize);
    page.family("jackpotd_journal_verification", "gauge",
                "1 for the state of the verification that began at the start.");
    const Verification now = verification_;
    for (const auto& [each, state] : {std::pair{Verification::Running, "running"},
                                      {Verification::Verified, "verified"},
                                      {Verification::Failed, "failed"}})
        page.value({{"state", state}}, now == each ? "1" : "0");
}

void Metrics::writePools(Page& page) const
{
    const std::vector<PoolMetrics> pools = writer_.poolMetrics();
    std::vector<meters::PoolReading> readings;
    for (std::size_t i = 0; i < pools.size(); ++i) readings.push_back(writer_.readings().read(i));
    page.family("jackpotd_pool_displayed_dollars", "gauge", "The amount that displays show.");
    for (const meters::PoolReading& each : readings)
        page.value({{"pool", each.pool.view()}}, toCents(each.displayed));
    page.family("jackpotd_pool_reserve_dollars", "gauge", "The reserve for the next resets.");
    for (const PoolMetrics& each : pools) page.value({{"pool", each.pool}}, toExact(each.reserve));
    page.family(
        "jackpotd_pool_status", "gauge",
        "1 if true: the pool takes wagers; a confirmed jackpot waits for its window; one waits "
        "for people; the pool is suspended.");
    for (const meters::PoolReading& each : readings)
        for (const auto& [status, is] : {std::pair{"open", each.open},
                                         {"pending", each.pending},
                                         {"held", each.held},
                                         {"suspended", !each.open}})
            page.value({{"pool", each.pool.view()}, {"status", status}}, is ? "1" : "0");
    const auto count = [&](std::string_view name, std::string_view help,
                           std::size_t PoolMetrics::*which) {
        page.family(name, "gauge", help);
        for (const PoolMetrics& each : pools) page.value({{"pool", each.pool}}, each.*which);
    };
    count("jackpotd_pool_tables", "Tables of the pool.", &PoolMetrics::tables);
    count("jackpotd_pool_tables_offline", "Tables of the pool that have lost their link.",
          &PoolMetrics::tablesOffline);
    count("jackpotd_pool_tables_suspended", "Tables of the pool that play without the jackpot.",
          &PoolMetrics::tablesSuspended);
}

void Metrics::writeLink(Page& page) const
{
    const auto& link = link_.counters();
    page.gauge("jackpotd_link_connections", "Connections of tables.", link.connections.load());
    page.counter("jackpotd_link_commands_total", "Commands that tables sent.",
                 link.commands.load());
    page.counter("jackpotd_link_rejected_connections_total",
                 "Connections that were rejected: bad certificate, unknown table, or too many.",
                 link.rejected.load());
    page.counter("jackpotd_link_bad_frames_total", "Frames that were malformed or out of turn.",
                 link.badFrames.load());
    page.counter("jackpotd_link_stalls_total",
                 "Times that tables had to wait because the mailbox was full.", link.stalls.load());
}

void Metrics::writeMeters(Page& page) const
{
    std::vector<meters::PollState> polled;
    if (const meters::Server* server = displays_.server()) {
        const auto& counters = server->counters();
        page.gauge("jackpotd_meters_displays", "Displays that are connected and poll.",
                   counters.connections.load());
        page.counter("jackpotd_meters_reads_total", "Reads that were answered.",
                     counters.reads.load());
        page.counter("jackpotd_meters_exceptions_total", "Requests answered with an exception.",
                     counters.exceptions.load());
        page.counter("jackpotd_meters_rejected_connections_total",
                     "Connections of displays that were rejected: not allowed, or too many.",
                     counters.rejected.load());
        page.counter(
            "jackpotd_meters_protocol_errors_total",
            "Connections of displays that were closed: bad frames, or silent for too long.",
            counters.broken.load());
        polled = server->states();
    }
    page.gauge("jackpotd_meters_silent",
               "Meters that were not read or written for their configured time.",
               displays_.silent());
    const std::vector<meters::DisplayState> driven = displays_.drivenStates();
    page.family("jackpotd_meter_reads_total", "counter", "Reads of a meter that is polled.");
    for (const auto& each : polled) page.value({{"meter", each.id}}, each.reads);
    page.family("jackpotd_meter_writes_total", "counter", "Updates of a display that is driven.");
    for (const auto& each : driven) page.value({{"meter", each.id}}, each.writes);
    page.family("jackpotd_meter_errors_total", "counter", "Updates of it that failed.");
    for (const auto& each : driven) page.value({{"meter", each.id}}, each.errors);
    std::map<std::string, std::optional<meters::Clock::time_point>> seen;
    for (const auto& each : polled) seen[each.id] = std::max(seen[each.id], each.lastRead);
    for (const auto& each : driven) seen[each.id] = std::max(seen[each.id], each.lastWrite);
    page.family(
        "jackpotd_meter_last_seen_timestamp_seconds", "gauge",
        "When a meter was last read, or its display last confirmed an update; 0 for never.");
    for (const auto& [meter, when] : seen)
        page.value({{"meter", meter}}, when ? timestampOf(*when) : "0");
}

void Metrics::writeDesk(Page& page) const
{
    const net::HttpServer::Counters* const desk = desk_;
    if (!desk) return;
    page.gauge("jackpotd_desk_connections", "Connections to the desk.", desk->connections.load());
    page.gauge("jackpotd_desk_feeds", "Connections that read the feed.", desk->feeds.load());
    page.counter("jackpotd_desk_requests_total", "Requests.", desk->requests.load());
    page.counter("jackpotd_desk_rejected_requests_total",
                 "Requests that were rejected before any handler.", desk->rejectedRequests.load());
    page.counter("jackpotd_desk_rejected_connections_total",
                 "Connections that were rejected: too many.", desk->rejected.load());
    page.counter("jackpotd_desk_timed_out_requests_total",
                 "Requests that were not complete in time.", desk->timedOut.load());
}

void Metrics::writeLog(Page& page) const
{
    page.family("jackpotd_log_messages_total", "counter", "Messages in the log, by level.");
    using config::LogLevel;
    for (const LogLevel level :
         {LogLevel::Error, LogLevel::Warning, LogLevel::Information, LogLevel::Debug})
        page.value({{"level", idOf(level)}}, log_.written(level));
    page.counter("jackpotd_log_suppressed_total",
                 "Messages that the log suppressed, because too many were alike.",
                 log_.suppressed());
}

}  // namespace jackpot
