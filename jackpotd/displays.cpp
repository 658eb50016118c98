#include "jackpotd/displays.h"

#include <algorithm>

#include "jackpotd/service.h"
#include "storage/json_text.h"

namespace jackpot {
namespace {

using meters::Clock;

constexpr const char* kSelf = "jackpotd";
constexpr std::chrono::minutes kRejectionLogInterval{1};

std::string inWords(const std::vector<std::string>& tables)
{
    std::string text = tables.size() == 1 ? "table " : "tables ";
    for (std::size_t i = 0; i < tables.size(); ++i) text += (i == 0 ? "" : ", ") + tables[i];
    return text;
}

meters::LineAddress lineOf(const std::variant<config::Endpoint, config::SerialPort>& to)
{
    if (const auto* tcp = std::get_if<config::Endpoint>(&to))
        return meters::TcpAddress{tcp->host, tcp->port};
    const auto& port = std::get<config::SerialPort>(to);
    char parity = 'N';
    if (port.parity == config::Parity::Even) parity = 'E';
    if (port.parity == config::Parity::Odd) parity = 'O';
    return meters::SerialAddress{port.device, static_cast<int>(port.baud), parity,
                                 static_cast<int>(port.stopBits)};
}

std::int64_t agoMs(Clock::time_point then)
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - then).count();
}

void writePolled(storage::JsonText& json, std::int64_t unit, const meters::PollState& state)
{
    json.numberField("unit", unit);
    json.numberField("reads", static_cast<std::int64_t>(state.reads));
    if (!state.lastRead) return;
    json.numberField("last_read_ms_ago", agoMs(*state.lastRead));
    json.textField("last_read_by", state.lastFrom);
}

void writeDriven(storage::JsonText& json, const std::string& line,
                 const meters::DisplayState& state)
{
    json.textField("driven_over", line);
    json.boolField("answers", state.connected);
    json.numberField("writes", static_cast<std::int64_t>(state.writes));
    json.numberField("errors", static_cast<std::int64_t>(state.errors));
    if (state.lastWrite) json.numberField("last_write_ms_ago", agoMs(*state.lastWrite));
    if (state.cents) json.moneyField("amount_written", rules::Money::ofCents(*state.cents));
    if (!state.lastError.empty()) json.textField("last_error", state.lastError);
}

}  // namespace

meters::DrivenDisplay toDrivenDisplay(const config::Meter& meter, std::size_t pool)
{
    const config::Drive& drive = meter.drive.value();
    meters::DrivenDisplay display;
    display.id = meter.id;
    display.pool = pool;
    display.line = lineOf(drive.to);
    display.unit = static_cast<std::uint8_t>(drive.unit);
    display.format = meters::formatNamed(drive.format).value();
    display.format.digits = static_cast<std::size_t>(drive.digits);
    display.format.lowFirst = drive.lowFirst;
    display.format.address = static_cast<std::uint16_t>(drive.address);
    if (drive.statusAddress)
        display.format.statusAddress = static_cast<std::uint16_t>(*drive.statusAddress);
    display.format.oneByOne = drive.function == 6;
    display.readBack = drive.readBack;
    display.timeout = std::chrono::milliseconds{drive.timeoutMs};
    display.heartbeat = std::chrono::milliseconds{drive.heartbeatMs};
    return display;
}

Result<std::unique_ptr<Displays>> Displays::start(const config::Config& config, Writer& writer,
                                                  const Log& log)
{
    std::unique_ptr<Displays> displays{new Displays{writer, log}};
    if (config.polling) {
        displays->listeners_.push_back(config.polling->listen);
        for (const config::Meter& meter : config.meters)
            if (meter.listen && std::ranges::find(displays->listeners_, *meter.listen) ==
                                    displays->listeners_.end())
                displays->listeners_.push_back(*meter.listen);
    }
    displays->configure(config);
    if (auto driving = displays->master_.drive(displays->driven()); !driving)
        return driving.error();
    if (!config.polling) return displays;

    const config::PollingConfig& polling = *config.polling;

    meters::ServerSettings settings;
    for (const config::Endpoint& each : displays->listeners_) {
        auto& listener = settings.listeners.emplace_back();
        if (each.inherited.empty()) {
            listener = {each.host, each.port};
            continue;
        }
        auto socket = service::inheritedSocket(each.inherited);
        if (!socket) return socket.error();
        listener.socket = *socket;
    }
    settings.allow = polling.allow;
    settings.maxDisplays = polling.maxDisplays;
    settings.maxDisplaysPerAddress = polling.maxDisplaysPerAddress;
    settings.frameTimeoutMs = polling.frameTimeoutMs;
    settings.idleTimeoutMs = polling.idleTimeoutS * 1000;
    auto server =
        meters::Server::listen(std::move(settings), displays->polled(), writer.readings());
    if (!server) return server.error();
    displays->server_ = std::move(*server);
    return displays;
}

std::vector<std::string> Displays::setMeters(const config::Config& config)
{
    auto refused = configure(config);
    if (server_) server_->setMeters(polled());
    if (auto driving = master_.drive(driven()); !driving)
        refused.push_back("displays that are driven: " + driving.error().message);
    return refused;
}

std::vector<std::string> Displays::configure(const config::Config& config)
{
    const std::scoped_lock lock{mutex_};
    std::vector<std::string> refused;
    meters_.clear();
    std::vector<meters::WatchedMeter> watched;
    for (const config::Meter& meter : config.meters) {
        const auto pool = std::ranges::find(config.site.pools, meter.pool, &rules::PoolConfig::id);
        if (pool == config.site.pools.end()) {
            refused.push_back("meter " + meter.id + ": its pool is not open");
            continue;
        }
        if (meter.listen && std::ranges::find(listeners_, *meter.listen) == listeners_.end()) {
            refused.push_back("meter " + meter.id + ": listen: it takes a restart");
            continue;
        }
        meters_.push_back({meter, static_cast<std::size_t>(pool - config.site.pools.begin())});
        meters::WatchedMeter& each = watched.emplace_back();
        each.id = meter.id;
        each.tables = meter.tables;
        // A meter that can be neither polled nor driven is not watched.
        if (meter.silentAfterS && ((config.polling && meter.unit) || meter.drive))
            each.silentAfter = std::chrono::seconds{*meter.silentAfterS};
        each.suspend = meter.suspendWhenSilent;
    }
    watch_ = meters::DisplayWatchdog{std::move(watched), Clock::now()};
    return refused;
}

std::vector<meters::PolledMeter> Displays::polled() const
{
    std::vector<meters::PolledMeter> polled;
    for (const ConfiguredMeter& each : meters_) {
        if (!each.config.unit) continue;
        const auto listener =
            std::ranges::find(listeners_, each.config.listen.value_or(listeners_.front()));
        polled.push_back({each.config.id, each.pool,
                          static_cast<std::size_t>(listener - listeners_.begin()),
                          static_cast<std::uint8_t>(*each.config.unit), each.config.display});
    }
    return polled;
}

std::vector<meters::DrivenDisplay> Displays::driven() const
{
    std::vector<meters::DrivenDisplay> displays;
    for (const ConfiguredMeter& each : meters_)
        if (each.config.drive) displays.push_back(toDrivenDisplay(each.config, each.pool));
    return displays;
}

std::vector<std::optional<Clock::time_point>> Displays::lastShown() const
{
    std::vector<std::optional<Clock::time_point>> shown(meters_.size());
    const auto update = [&](const std::string& id, std::optional<Clock::time_point> when) {
        for (std::size_t i = 0; i < meters_.size(); ++i)
            if (meters_[i].config.id == id) shown[i] = std::max(shown[i], when);
    };
    if (server_)
        for (const meters::PollState& state : server_->states()) update(state.id, state.lastRead);
    for (const meters::DisplayState& state : master_.states()) update(state.id, state.lastWrite);
    return shown;
}

void Displays::checkWatchdogs()
{
    std::vector<meters::DisplayWatchdogChange> changes;
    {
        const std::scoped_lock lock{mutex_};
        changes = watch_.look(Clock::now(), lastShown());
        std::size_t silent = 0;
        for (std::size_t i = 0; i < meters_.size(); ++i)
            if (watch_.isSilent(i)) ++silent;
        silent_ = silent;
    }
    for (const meters::DisplayWatchdogChange& change : changes) report(change);
    logRejectedConnections();
}

void Displays::report(const meters::DisplayWatchdogChange& change)
{
    const meters::WatchedMeter& meter = watch_.meters()[change.meter];
    if (!change.silent) {
        log_.information("meter " + meter.id + " is seen again");
        (void)writer_.appendEvent("meter_seen_again", [id = meter.id](storage::JsonText& json) {
            json.textField("meter", id);
        });
        return;
    }
    const std::string detail = "meter " + meter.id + " (" + inWords(meter.tables) +
                               ") was not seen for " + std::to_string(meter.silentAfter->count()) +
                               " s";
    writer_.raiseAlarm("meter_silent", detail);
    for (const std::string& table : change.suspend)
        (void)writer_.submit(rules::SuspendTable{
            table, rules::SuspensionGround::Malfunction, rules::Origin::Desk, detail, {kSelf}});
}

void Displays::logRejectedConnections()
{
    if (!server_ || Clock::now() - rejectedLoggedAt_ < kRejectionLogInterval) return;
    const std::uint64_t rejected = server_->counters().rejected;
    if (rejected == rejectedLogged_) return;
    log_.warning("rejected " + std::to_string(rejected - rejectedLogged_) +
                 " connections of displays: not in [meters] allow, or more than may connect");
    rejectedLogged_ = rejected;
    rejectedLoggedAt_ = Clock::now();
}

std::string Displays::address() const
{
    if (!server_) return {};
    const config::Endpoint& first = listeners_.front();
    return (first.inherited.empty() ? first.host : "systemd:" + first.inherited) + ":" +
           std::to_string(server_->port());
}

std::string Displays::inJson() const
{
    std::string out;
    storage::JsonText json{out};
    json.beginObject();
    if (server_) {
        const auto& counters = server_->counters();
        json.textField("polled_at", address());
        const auto count = [&json](std::string_view key, const std::atomic<std::uint64_t>& value) {
            json.numberField(key, static_cast<std::int64_t>(value.load()));
        };
        count("displays", counters.connections);
        count("reads", counters.reads);
        count("exceptions", counters.exceptions);
        count("strangers", counters.rejected);
        count("broken", counters.broken);
    }
    json.key("meters");
    json.beginArray();
    const auto polls = server_ ? server_->states() : std::vector<meters::PollState>{};
    const auto drives = master_.states();
    const std::scoped_lock lock{mutex_};
    for (std::size_t i = 0; i < meters_.size(); ++i) {
        const ConfiguredMeter& each = meters_[i];
        const meters::PoolReading reading = writer_.readings().read(each.pool);
        json.beginObject();
        json.textField("meter", each.config.id);
        json.textField("pool", each.config.pool);
        json.key("tables");
        json.beginArray();
        for (const std::string& table : each.config.tables) json.text(table);
        json.endArray();
        json.moneyField("amount", reading.displayed);
        json.textField("status", inWords(writer_.readings().statusAt(reading, Clock::now())));
        json.boolField("silent", watch_.isSilent(i));
        const auto poll = std::ranges::find(polls, each.config.id, &meters::PollState::id);
        if (poll != polls.end()) writePolled(json, *each.config.unit, *poll);
        const auto drive = std::ranges::find(drives, each.config.id, &meters::DisplayState::id);
        if (drive != drives.end()) writeDriven(json, inWords(each.config.drive->to), *drive);
        json.endObject();
    }
    json.endArray();
    json.endObject();
    return out;
}

}  // namespace jackpot
