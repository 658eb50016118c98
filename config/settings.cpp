#include <algorithm>
#include <charconv>

#include "config/names.h"
#include "config/readers.h"

namespace jackpot::config {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxConnections = 60'000;
constexpr std::size_t kMaxHostBytes = 253;  // RFC 1035

// The number of the decimal digits, at most `most`, without a leading zero.
std::optional<std::uint32_t> smallNumber(std::string_view digits, std::uint32_t most)
{
    std::uint32_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, number);
    if (digits.empty() || error != std::errc{} || stopped != end || number > most)
        return std::nullopt;
    if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
    return number;
}

bool isIpv4(std::string_view text)
{
    for (int part = 0; part < 4; ++part) {
        const std::size_t dot = text.find('.');
        if (!smallNumber(text.substr(0, dot), 255)) return false;
        if ((dot == std::string_view::npos) != (part == 3)) return false;
        if (part < 3) text.remove_prefix(dot + 1);
    }
    return true;
}

bool isHexGroup(std::string_view text)
{
    return !text.empty() && text.size() <= 4 &&
           text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// RFC 4291: eight groups, or fewer around one "::"; the last two may be an IPv4 address.
bool isIpv6(std::string_view text)
{
    const auto countGroups = [](std::string_view part, bool isLast) -> std::optional<int> {
        int groups = 0;
        while (!part.empty()) {
            const std::size_t colon = part.find(':');
            const std::string_view group = part.substr(0, colon);
            const bool ends = colon == std::string_view::npos;
            if (ends && isLast && isIpv4(group)) return groups + 2;
            if (!isHexGroup(group)) return std::nullopt;
            ++groups;
            if (ends) break;
            part.remove_prefix(colon + 1);
            if (part.empty()) return std::nullopt;
        }
        return groups;
    };
    const std::size_t gap = text.find("::");
    if (gap == std::string_view::npos) return countGroups(text, true) == 8;
    const auto before = countGroups(text.substr(0, gap), false);
    const auto after = countGroups(text.substr(gap + 2), true);
    return before && after && *before + *after < 8;
}

bool isHostName(std::string_view text)
{
    if (text.empty() || text.size() > kMaxHostBytes) return false;
    const std::size_t dot = text.rfind('.');
    const std::string_view last = dot == std::string_view::npos ? text : text.substr(dot + 1);
    // A last label of digits alone is a mistyped address (RFC 3696).
    if (last.find_first_not_of("0123456789") == std::string_view::npos) return false;
    while (true) {
        const std::size_t end = text.find('.');
        const std::string_view label = text.substr(0, end);
        if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-')
            return false;
        if (!std::ranges::all_of(label, [](char c) {
                return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-';
            }))
            return false;
        if (end == std::string_view::npos) return true;
        text.remove_prefix(end + 1);
    }
}

Endpoint endpoint(const Value& value)
{
    Endpoint made;
    if (!value.isThere()) return made;
    const std::string whole = value.text();
    if (whole.empty()) return made;
    const std::string_view text = whole;
    const std::size_t colon = text.rfind(':');
    const std::string_view host = text.substr(0, colon);
    const auto port = colon == std::string_view::npos ? std::nullopt
                                                      : smallNumber(text.substr(colon + 1), 65'535);
    const bool bracketed = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
    const bool fine =
        bracketed ? isIpv6(host.substr(1, host.size() - 2)) : isIpv4(host) || isHostName(host);
    if (!port || !fine) {
        value.error(inQuotes(text) +
                    " is not an address and port: it takes \"127.0.0.1:7707\", "
                    "\"host.example:7707\" or, for IPv6, \"[::1]:7707\", with a port up to 65535");
        return made;
    }
    made.host = bracketed ? host.substr(1, host.size() - 2) : host;
    made.port = static_cast<std::uint16_t>(*port);
    return made;
}

std::optional<fs::path> optionalPath(const Value& value, const fs::path& base)
{
    if (!value.isThere()) return std::nullopt;
    return value.path(base);
}

void readSite(Section section, Config& config)
{
    const Value name = section.required("name");
    config.siteName = name.text();
    if (!config.siteName.empty())
        if (const auto fine = checkSiteName(config.siteName); !fine)
            name.error(fine.error().message +
                       ": it is the journal's key name, such as \"star.example/jackpot\"");
    section.refuseUnknownKeys();
}

void readJournal(Section section, const fs::path& base, JournalConfig& journal)
{
    journal.directory = section.required("directory").path(base);
    journal.key = optionalPath(section["key"], base);
    journal.snapshotEvery =
        section["snapshot_every"].integer(journal.snapshotEvery, 100, 10'000'000);
    journal.heartbeatS = section["heartbeat_s"].integer(journal.heartbeatS, 1, 3600);
    section.refuseUnknownKeys();
}

void readLink(Section section, const fs::path& base, LinkConfig& link)
{
    const auto timeout = [&section](std::string_view key, std::int64_t otherwise) {
        return section[key].integer(otherwise, 100, 60'000);
    };
    link.listen = endpoint(section["listen"]);
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

void readDesk(Section section, const fs::path& base, std::optional<DeskConfig>& desk)
{
    if (!section.isThere()) return;
    desk.emplace();
    desk->listen = endpoint(section.required("listen"));
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
        section["session_idle_minutes"].integer(desk->sessionIdleMinutes, 1, 24 * 60);
    desk->sessionHours = section["session_hours"].integer(desk->sessionHours, 1, 7 * 24);
    desk->bindSessionToAddress =
        section["bind_session_to_address"].boolean(desk->bindSessionToAddress);
    section.refuseUnknownKeys();
}

void readWriter(Section section, WriterConfig& writer)
{
    writer.mailbox = section["mailbox"].integer(writer.mailbox, 64, 1'048'576);
    const Value batch = section["batch"];
    writer.batch = batch.integer(std::min(writer.batch, writer.mailbox), 1, 65'536);
    if (writer.batch > writer.mailbox && !section.isBad("mailbox"))
        batch.error(std::to_string(writer.batch) + " is more than the mailbox holds, which is " +
                    std::to_string(writer.mailbox));
    section.refuseUnknownKeys();
}

void readLog(Section section, Config& config)
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

void readSettings(Section& document, const fs::path& base, Config& config)
{
    readSite(document.requiredSection("site"), config);
    readJournal(document.requiredSection("journal"), base, config.journal);
    readLink(document.requiredSection("link"), base, config.link);
    readDesk(document.section("desk"), base, config.desk);
    readWriter(document.section("writer"), config.writer);
    readLog(document.section("log"), config);
}

}  // namespace jackpot::config
