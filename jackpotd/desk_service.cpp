#include "jackpotd/desk_service.h"

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <vector>

#include "console/desk/routes.h"
#include "console/people/authorization.h"
#include "storage/json_text.h"

namespace jackpot {
namespace {

constexpr std::chrono::seconds kAnswerTimeout{5};

// An error if the journal fails or takes too long.
template <class T>
Result<T> awaited(std::future<Result<T>> answer)
{
    return awaitAnswer(std::move(answer), kAnswerTimeout);
}

Result<console::Controller::Lock> lockOf(Writer& writer)
{
    const auto state = awaited(writer.lockState());
    if (!state) return state.error();
    console::Controller::Lock lock{state->reason, state->records, 0, {}, {}};
    if (state->shown.empty()) return lock;
    const storage::Checkpoint& largest = largestOf(state->shown);
    lock.size = largest.size;
    lock.root = largest.root.base64();
    for (const auto& [table, receipt] : state->shown) lock.tables.push_back(table);
    return lock;
}

console::SessionSettings sessionSettings(const config::DeskConfig& desk)
{
    return {desk.sessionIdleMinutes * 60 * 1000, desk.sessionHours * 60 * 60 * 1000,
            desk.bindSessionToAddress};
}

net::TlsFiles tlsFiles(const config::DeskConfig& desk)
{
    return {desk.certificate, desk.key, desk.clientCa.value_or(""), std::nullopt};
}

net::HttpServerLimits limitsOf(const config::DeskConfig& desk)
{
    return {desk.maxConnections, desk.maxConnectionsPerAddress, desk.maxFeeds,
            desk.requestTimeoutMs};
}

std::int64_t monotonicMs()
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::string poolJson(const meters::Registers& registers)
{
    const auto has = [&](std::uint16_t bit) {
        return (registers[meters::address::kStatus] & bit) != 0;
    };
    std::string text;
    storage::JsonText json{text};
    json.beginObject();
    json.textField("pool", meters::poolIn(registers));
    json.numberField("displayed_cents", meters::centsIn(registers));
    json.numberField("changes", meters::changesIn(registers));
    json.boolField("open", has(meters::status::kOpen));
    json.boolField("pending", has(meters::status::kPending));
    json.boolField("held", has(meters::status::kHeld));
    json.boolField("fault", has(meters::status::kFault | meters::status::kNoJournal));
    if (const auto win = meters::lastWinIn(registers)) {
        json.key("won");
        json.beginObject();
        json.textField("table", win->table);
        json.numberField("cents", win->cents);
        json.numberField("percent", win->tier == 1 ? 100 : 10);
        json.numberField("at", win->unixSeconds);
        json.boolField("shown", has(meters::status::kWinShown));
        json.endObject();
    }
    json.endObject();
    return text;
}

std::optional<std::string> shownOf(const meters::PublishedPools& pools, const std::string& pool)
{
    for (std::size_t i = 0; i < pools.size(); ++i) {
        const meters::Registers registers = pools.read(i, meters::Clock::now());
        if (!pool.empty() && meters::poolIn(registers) == pool) return poolJson(registers);
    }
    return std::nullopt;
}

std::string changesJson(const console::SearchIndex::Changes& changes)
{
    std::string text;
    storage::JsonText json{text};
    const auto number = [&](std::string_view key, std::uint64_t value) {
        json.numberField(key, static_cast<std::int64_t>(value));
    };
    json.beginObject();
    number("records", changes.records);
    number("claims", changes.claims);
    number("notices", changes.notices);
    number("proposals", changes.proposals);
    json.endObject();
    return text;
}

console::Controller controllerOf(Writer& writer, const Displays& displays)
{
    return {
        [&writer](rules::Command command) { return awaited(writer.submit(std::move(command))); },
        [&writer](std::string kind, console::EventFields fields) {
            return awaited(writer.appendEvent(std::move(kind), std::move(fields)));
        },
        [&writer] { return awaited(writer.snapshot()); },
        [&writer] { return lockOf(writer); },
        [&writer](console::Controller::Acceptance given) {
            return awaited(writer.acceptRestore(
                {given.size, std::move(given.root), std::move(given.by), std::move(given.reason)}));
        },
        [&writer](const std::string& pool) { return shownOf(writer.publishedPools(), pool); },
        [&displays] { return displays.inJson(); }};
}

}  // namespace

Result<std::unique_ptr<DeskService>> DeskService::open(const config::Config& config, Writer& writer,
                                                       const Displays& displays,
                                                       console::DemoDealers* dealers,
                                                       const Log& log, Metrics& metrics)
{
    const config::DeskConfig& settings = *config.desk;
    const auto warn = [&log](const std::string& text) { log.warning(text); };
    std::unique_ptr<DeskService> desk{new DeskService{config, writer, displays}};
    auto people = console::People::open(config.journal.directory, desk->controller_.appendEvent,
                                        desk->sessions_, monotonicMs, warn);
    if (!people) return people.error();
    desk->people_ = std::move(*people);
    const console::Monitoring monitoring = metrics.forDesk();
    auto server = net::HttpServer::listen(
        {settings.listen.host, settings.listen.port, tlsFiles(settings), limitsOf(settings)},
        console::guardedRoutes(
            console::allRoutes({desk->controller_, *desk->people_, desk->sessions_, desk->desk_,
                                monitoring, dealers}),
            desk->sessions_,
            [allow = config.metrics.allow](const std::string& address) {
                return config::contains(allow, address);
            }),
        warn);
    if (!server) return Error{"desk: " + server.error().message};
    desk->server_ = std::move(*server);
    metrics.setDesk(desk->server_->counters());
    desk->feed_ = std::jthread{[desk = desk.get(), &writer](const std::stop_token& stop) {
        desk->publish(writer.publishedPools(), stop);
    }};
    return desk;
}

DeskService::DeskService(const config::Config& config, Writer& writer, const Displays& displays)
    : controller_{controllerOf(writer, displays)},
      sessions_{sessionSettings(*config.desk), monotonicMs},
      index_{{.journal = config.journal.directory, .file = {}}},
      desk_{{.journal = config.journal.directory,
             .secondPersonFrom = config.desk->secondPersonFrom,
             .now = {}},
            controller_,
            index_},
      notifier_{
          {.command = config.desk->noticeCommand, .syslog = config.desk->noticeSyslog, .now = {}},
          controller_,
          index_}
{}

Result<void> DeskService::reload(const config::DeskConfig& desk)
{
    sessions_.setSettings(sessionSettings(desk));
    server_->setLimits(limitsOf(desk));
    return server_->setTls(tlsFiles(desk));
}

// The feed is for people: four times a second, and only what has changed.
void DeskService::publish(const meters::PublishedPools& pools, const std::stop_token& stop)
{
    constexpr std::chrono::milliseconds kInterval{250};
    std::vector<std::string> published(pools.size());
    console::SearchIndex::Changes publishedChanges = index_.changes();
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock{mutex};
    while (!stop.stop_requested()) {
        for (std::size_t i = 0; i < pools.size(); ++i) {
            const meters::Registers registers = pools.read(i, meters::Clock::now());
            const std::string pool = meters::poolIn(registers);
            if (pool.empty()) continue;
            std::string now = poolJson(registers);
            if (now == published[i]) continue;
            server_->publish("pool", now, console::signTopic(pool));
            published[i] = std::move(now);
        }
        if (const auto changes = index_.changes(); changes != publishedChanges) {
            server_->publish("changed", changesJson(changes));
            publishedChanges = changes;
        }
        stopped.wait_for(lock, stop, kInterval, [] { return false; });
    }
}

}  // namespace jackpot
