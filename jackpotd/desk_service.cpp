#include "jackpotd/desk_service.h"

#include <chrono>
#include <future>
#include <vector>

#include "console/desk/routes.h"
#include "console/people/authorization.h"
#include "jackpotd/reading_json.h"
#include "net/socket.h"
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

Result<std::unique_ptr<DeskService>> DeskService::open(const config::Config& config,
                                                       const DeskParts& parts)
{
    std::unique_ptr<DeskService> service{new DeskService{config, parts}};
    const console::Monitoring monitoring = parts.metrics.forDesk();
    net::HttpServerSettings settings;
    settings.localSocket = config.journal.directory / net::kLocalSocketName;
    std::vector<net::Route> routes;
    if (config.desk) {
        if (auto opened = service->openDesk(config, parts); !opened) return opened.error();
        settings.host = config.desk->listen.host;
        settings.port = config.desk->listen.port;
        settings.tls = tlsFiles(*config.desk);
        settings.limits = limitsOf(*config.desk);
        Desk& desk = *service->desk_;
        routes = console::guardedRoutes(
            console::allRoutes({service->controller_, *desk.people, service->sessions_, desk.api,
                                monitoring, parts.dealers}),
            service->sessions_, [allow = config.metrics.allow](const std::string& address) {
                return config::contains(allow, address);
            });
    } else {
        settings.host.clear();
        settings.notFound = "there is no desk: add the section [desk]";
        routes = console::guardedRoutes(
            console::routesWithoutDesk(service->controller_, monitoring), service->sessions_);
    }
    auto server =
        net::HttpServer::listen(std::move(settings), std::move(routes),
                                [&log = parts.log](const std::string& text) { log.warning(text); });
    if (!server) return Error{"desk: " + server.error().message};
    service->server_ = std::move(*server);
    if (!config.desk) return service;
    service->httpsCounters_ = &service->server_->counters();
    parts.metrics.setDesk(service->server_->counters());
    service->feed_ =
        std::jthread{[desk = service.get(), &writer = parts.writer](const std::stop_token& stop) {
            desk->publish(writer.readings(), stop);
        }};
    return service;
}

DeskService::DeskService(const config::Config& config, const DeskParts& parts)
    : controller_{controllerOf(parts.writer, parts.displays)},
      sessions_{config.desk ? sessionSettings(*config.desk) : console::SessionSettings{},
                monotonicMs}
{
    controller_.status = [this, &writer = parts.writer, &link = parts.link] {
        return status(writer, link);
    };
    controller_.reload = parts.reload;
}

DeskService::~DeskService()
{
    if (desk_) desk_->api.stopReports();
}

DeskService::Desk::Desk(const config::Config& config, const console::Controller& controller,
                        ChangeSignal& changes)
    : index{{.journal = config.journal.directory, .file = {}}, changes},
      api{{.journal = config.journal.directory,
           .secondPersonFrom = config.desk->secondPersonFrom,
           .now = {}},
          controller,
          index},
      notifier{
          {.command = config.desk->noticeCommand, .syslog = config.desk->noticeSyslog, .now = {}},
          controller,
          index,
          changes}
{}

Result<void> DeskService::openDesk(const config::Config& config, const DeskParts& parts)
{
    desk_.emplace(config, controller_, parts.writer.readings().changes());
    auto people = console::People::open(
        config.journal.directory, controller_.appendEvent, sessions_, monotonicMs,
        [&log = parts.log](const std::string& text) { log.warning(text); });
    if (!people) return people.error();
    desk_->people = std::move(*people);
    return {};
}

Result<void> DeskService::reload(const config::DeskConfig& desk)
{
    sessions_.setSettings(sessionSettings(desk));
    server_->setLimits(limitsOf(desk));
    return server_->setTls(tlsFiles(desk));
}

std::string DeskService::status(const Writer& writer, const linkproto::Server& link) const
{
    const WriterMetrics& counted = writer.metrics();
    const auto& tables = link.counters();
    std::string text;
    storage::JsonText json{text};
    const auto number = [&](std::string_view key, std::uint64_t value) {
        json.numberField(key, static_cast<std::int64_t>(value));
    };
    json.beginObject();
    number("connections", tables.connections);
    number("commands", counted.commands());
    number("commits", sumOf(counted.batch.counts()));
    number("records", counted.records.value());
    number("waiting", writer.waiting());
    number("repeated", counted.repeated.value());
    number("rejected", sumOf(counted.rejected));
    number("failed_reads", counted.failedReads.value());
    number("alarms", sumOf(counted.alarms));
    number("strangers", tables.rejected);
    number("bad_frames", tables.badFrames);
    number("stalls", tables.stalls);
    if (const net::HttpServer::Counters* const https = httpsCounters_) {
        number("desk_connections", https->connections);
        number("desk_feeds", https->feeds);
        number("desk_requests", https->requests);
        number("desk_refused", https->rejectedRequests);
        number("desk_turned_away", https->rejected);
        number("desk_too_slow", https->timedOut);
    }
    json.endObject();
    return text;
}

// The feed is for people: at most four times a second, and only what has changed.
void DeskService::publish(const meters::PublishedReadings& readings, const std::stop_token& stop)
{
    constexpr std::chrono::milliseconds kMinInterval{250};
    std::vector<std::string> published(readings.size());
    console::SearchIndex::Changes publishedChanges = desk_->index.changes();
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
        if (const auto changes = desk_->index.changes(); changes != publishedChanges) {
            server_->publish("changed", changesJson(changes));
            publishedChanges = changes;
        }
        sleepUntil(now + kMinInterval, stop);
        readings.changes().wait(seen, ChangeSignal::kForever, stop);
    }
}

}  // namespace jackpot
