#include "jackpotd/desk_service.h"

#include <chrono>
#include <future>
#include <vector>

#include "console/desk/routes.h"
#include "console/people/authorization.h"
#include "jackpotd/reading_json.h"
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
        [&writer](const std::string& pool) { return readingJson(writer.readings(), pool); },
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
        desk->publish(writer.readings(), stop);
    }};
    return desk;
}

DeskService::DeskService(const config::Config& config, Writer& writer, const Displays& displays)
    : controller_{controllerOf(writer, displays)},
      sessions_{sessionSettings(*config.desk), monotonicMs},
      index_{{.journal = config.journal.directory, .file = {}}, writer.readings().changes()},
      desk_{{.journal = config.journal.directory,
             .secondPersonFrom = config.desk->secondPersonFrom,
             .now = {}},
            controller_,
            index_},
      notifier_{
          {.command = config.desk->noticeCommand, .syslog = config.desk->noticeSyslog, .now = {}},
          controller_,
          index_,
          writer.readings().changes()}
{}

Result<void> DeskService::reload(const config::DeskConfig& desk)
{
    sessions_.setSettings(sessionSettings(desk));
    server_->setLimits(limitsOf(desk));
    return server_->setTls(tlsFiles(desk));
}

// The feed is for people: at most four times a second, and only what has changed.
void DeskService::publish(const meters::PublishedReadings& readings, const std::stop_token& stop)
{
    constexpr std::chrono::milliseconds kMinInterval{250};
    std::vector<std::string> published(readings.size());
    console::SearchIndex::Changes publishedChanges = index_.changes();
    while (!stop.stop_requested()) {
        const std::uint32_t seen = readings.changes().count();
        const auto now = meters::Clock::now();
        for (std::size_t i = 0; i < readings.size(); ++i) {
            const meters::PoolReading reading = readings.read(i);
            if (reading.changes == 0) continue;
            std::string text = readingJson(reading, readings.statusAt(reading, now));
            if (text == published[i]) continue;
            server_->publish("pool", text, console::signTopic(std::string{reading.pool.view()}));
            published[i] = std::move(text);
        }
        if (const auto changes = index_.changes(); changes != publishedChanges) {
            server_->publish("changed", changesJson(changes));
            publishedChanges = changes;
        }
        sleepUntil(now + kMinInterval, stop);
        readings.changes().wait(seen, ChangeSignal::kForever, stop);
    }
}

}  // namespace jackpot
