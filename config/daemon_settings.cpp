#include <algorithm>

#include "config/address.h"
#include "config/identifiers.h"
#include "config/sections.h"

namespace jackpot::config {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxConnections = 60'000;
constexpr std::size_t kMaxNetworks = 100;
constexpr std::size_t kMaxArguments = 20;
std::optional<fs::path> optionalPath(const Value& value, const fs::path& base)
{
    if (!value.isThere()) return std::nullopt;
    return value.path(base);
}

void readSite(TomlSection section, Config& config)
{
    const Value name = section.required("name");
    config.siteName = name.text();
    if (!config.siteName.empty())
        if (const auto fine = checkSiteName(config.siteName); !fine)
            name.error(fine.error().message +
                       ": it is the journal's key name, such as \"star.example/jackpot\"");
    section.refuseUnknownKeys();
}

void readJournal(TomlSection section, const fs::path& base, JournalConfig& journal)
{
    journal.directory = section.required("directory").path(base);
    journal.key = optionalPath(section["key"], base);
    journal.snapshotEvery =
        section["snapshot_every"].integer(journal.snapshotEvery, 100, 10'000'000);
    journal.heartbeatS = section["heartbeat_s"].integer(journal.heartbeatS, 1, 3600);
    section.refuseUnknownKeys();
}

void readLink(TomlSection section, const fs::path& base, LinkConfig& link)
{
    const auto timeout = [&section](std::string_view key, std::int64_t otherwise) {
        return section[key].integer(otherwise, 100, 60'000);
    };
    link.listen = endpoint(section["listen"], link.listen);
    link.certificate = section.required("certificate").path(base);
    link.key = section.required("key").path(base);
    link.ca = section.required("ca").path(base);
    link.crl = optionalPath(section["crl"], base);
    link.playerCardKey = optionalPath(section["player_card_key"], base);
    link.maxConnections =
        section["max_connections"].integer(link.maxConnections, 1, kMaxConnections);
    link.maxConnectionsPerAddress = section["max_connections_per_address"].integer(
        link.maxConnectionsPerAddress, 1, kMaxConnections);
    link.handshakeTimeoutMs = timeout("handshake_timeout_ms", link.handshakeTimeoutMs);
    link.frameTimeoutMs = timeout("frame_timeout_ms", link.frameTimeoutMs);
    link.offlineAfterMs = section["offline_after_ms"].integer(link.offlineAfterMs, 1000, 60'000);
    link.refusalsPerMinute =
        section["refusals_per_minute"].integer(link.refusalsPerMinute, 1, 100'000);
    if (const Value rounds = section["rounds_per_minute"]; rounds.isThere())
        link.roundsPerMinute = rounds.integer(1, 1, 1'000'000);
    section.refuseUnknownKeys();
}

// `otherwise` if the key is absent.
std::vector<Network> readNetworks(TomlSection& section, std::string_view key,
                                  std::vector<Network> otherwise)
{
    const Value value = section[key];
    if (!value.isThere()) return otherwise;
    std::vector<Network> networks;
    for (const Value::Item& item : value.texts(kMaxNetworks)) {
        if (const auto network = networkOf(item.text))
            networks.push_back(*network);
        else
            section.errorAt(item.place, key,
                            inQuotes(item.text) +
                                " is no network: it takes \"10.1.0.0/16\" or \"fd00::/8\", "
                                "with no bits set beyond the length, or an address");
    }
    return networks;
}

void readPolling(TomlSection section, std::optional<PollingConfig>& polling)
{
    if (!section.isThere()) return;
    PollingConfig& made = polling.emplace();
    const Value listen = section["listen"];
    made.listen = endpointOrInherited(listen, made.listen);
    made.allow = readNetworks(section, "allow", made.allow);
    if (!section["allow"].isThere() && !isLoopback(made.listen) && !section.isBad("listen"))
        listen.error(
            "displays come from elsewhere: name their networks, as in allow = "
            "[\"10.1.0.0/16\"]");
    made.maxDisplays = section["max_displays"].integer(made.maxDisplays, 1, 10'000);
    made.maxDisplaysPerAddress =
        section["max_displays_per_address"].integer(made.maxDisplaysPerAddress, 1, 10'000);
    made.frameTimeoutMs = section["frame_timeout_ms"].integer(made.frameTimeoutMs, 10, 5000);
    made.idleTimeoutS = section["idle_timeout_s"].integer(made.idleTimeoutS, 1, 3600);
    section.refuseUnknownKeys();
}

void readDeskNotices(TomlSection& section, DeskConfig& desk)
{
    if (const Value command = section["notice_command"]; command.isThere()) {
        for (const Value::Item& item : command.texts(kMaxArguments))
            desk.noticeCommand.push_back(item.text);
        if (!desk.noticeCommand.empty() && !desk.noticeCommand.front().starts_with('/'))
            command.error(inQuotes(desk.noticeCommand.front()) +
                          " is not the whole path of a program: it is run without a shell");
    }
    desk.noticeSyslog = section["notice_syslog"].boolean(desk.noticeSyslog);
    if (const Value from = section["second_person_from"]; from.isThere()) {
        desk.secondPersonFrom = from.money();
        if (desk.secondPersonFrom.isNegative()) from.error("it is negative");
    }
}

void readDesk(TomlSection section, const fs::path& base, std::optional<DeskConfig>& desk)
{
    if (!section.isThere()) return;
    desk.emplace();
    desk->listen = endpoint(section.required("listen"), desk->listen);
    desk->certificate = section.required("certificate").path(base);
    desk->key = section.required("key").path(base);
    desk->clientCa = optionalPath(section["client_ca"], base);
    desk->maxConnections =
        section["max_connections"].integer(desk->maxConnections, 1, kMaxConnections);
    desk->maxConnectionsPerAddress = section["max_connections_per_address"].integer(
        desk->maxConnectionsPerAddress, 1, kMaxConnections);
    desk->maxFeeds = section["max_feeds"].integer(desk->maxFeeds, 0, kMaxConnections);
    desk->requestTimeoutMs =
        section["request_timeout_ms"].integer(desk->requestTimeoutMs, 100, 60'000);
    desk->sessionIdleMinutes =
        section["session_idle_minutes"].integer(desk->sessionIdleMinutes, 1, 1'440);
    desk->sessionHours = section["session_hours"].integer(desk->sessionHours, 1, 168);
    desk->bindSessionToAddress =
        section["bind_session_to_address"].boolean(desk->bindSessionToAddress);
    readDeskNotices(section, *desk);
    section.refuseUnknownKeys();
}

void readMetrics(TomlSection section, Config& config)
{
    if (!section.isThere()) return;
    if (!config.desk) section.error("allow", "the desk serves the metrics: add a section [desk]");
    config.metrics.allow = readNetworks(section, "allow", config.metrics.allow);
    section.refuseUnknownKeys();
}

void readWitness(TomlSection section, const fs::path& base, std::optional<WitnessConfig>& witness)
{
    if (!section.isThere()) return;
    WitnessConfig& made = witness.emplace();
    made.file = optionalPath(section["file"], base);
    made.syslog = section["syslog"].boolean(made.syslog);
    if (const Value url = section["url"]; url.isThere()) {
        made.url = url.text();
        if (!made.url.starts_with("https://") || made.url.size() == std::string{"https://"}.size())
            url.error(inQuotes(made.url) +
                      " is not the address of a witness: it takes \"https://HOST:PORT\"");
        made.ca = section.required("ca").path(base);
    } else if (const Value ca = section["ca"]; ca.isThere()) {
        ca.error("it is for url, which is not given");
    }
    made.everyS = section["every_s"].integer(made.everyS, 1, 3600);
    if (!made.file && !made.syslog && made.url.empty() && !section.isBad("file"))
        section.error("file", "there is no receiver: set file, syslog = true or url");
    section.refuseUnknownKeys();
}

void readWriter(TomlSection section, WriterConfig& writer)
{
    writer.mailbox = section["mailbox"].integer(writer.mailbox, 64, 1'048'576);
    const Value batch = section["batch"];
    writer.batch = batch.integer(std::min(writer.batch, writer.mailbox), 1, 65'536);
    if (writer.batch > writer.mailbox && !section.isBad("mailbox"))
        batch.error(std::to_string(writer.batch) + " is more than the mailbox holds, which is " +
                    std::to_string(writer.mailbox));
    section.refuseUnknownKeys();
}

void readLog(TomlSection section, Config& config)
{
    if (const auto level =
            section["level"].oneOf({idOf(LogLevel::Error), idOf(LogLevel::Warning),
                                    idOf(LogLevel::Information), idOf(LogLevel::Debug)}))
        config.logLevel = static_cast<LogLevel>(*level);
    section.refuseUnknownKeys();
}

}  // namespace

std::string_view idOf(LogLevel level)
{
    switch (level) {
        case LogLevel::Error: return "error";
        case LogLevel::Warning: return "warning";
        case LogLevel::Information: return "information";
        case LogLevel::Debug: return "debug";
    }
    return "";
}

void readSettings(TomlSection& document, const fs::path& base, Config& config)
{
    readSite(document.requiredSection("site"), config);
    readJournal(document.requiredSection("journal"), base, config.journal);
    readLink(document.requiredSection("link"), base, config.link);
    readPolling(document.section("meters"), config.polling);
    readDesk(document.section("desk"), base, config.desk);
    readMetrics(document.section("metrics"), config);
    readWitness(document.section("witness"), base, config.witness);
    readWriter(document.section("writer"), config.writer);
    readLog(document.section("log"), config);
}

}  // namespace jackpot::config
