#include "jackpotd/link_settings.h"

#include <sys/resource.h>

#include <algorithm>

namespace jackpot {
namespace {

constexpr std::int64_t kOtherDescriptors = 64;  // the journal's files, listeners, the log

std::int64_t allowedConnections(const config::Config& config, const Log& log)
{
    const std::int64_t wanted = config.link.maxConnections;
    const std::int64_t others = kOtherDescriptors +
                                (config.desk ? config.desk->maxConnections : 0) +
                                (config.polling ? config.polling->maxDisplays : 0);
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
    const auto allowed =
        std::max<std::int64_t>(static_cast<std::int64_t>(limit.rlim_cur) - others, 1);
    if (wanted <= allowed) return wanted;
    log.warning("max_connections is " + std::to_string(wanted) + ", and the system allows " +
                std::to_string(allowed) + ": raise LimitNOFILE");
    return allowed;
}

}  // namespace

void raiseDescriptorLimit()
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

linkproto::ServerSettings serverSettings(const config::Config& config, const Log& log)
{
    const config::LinkConfig& link = config.link;
    return {link.listen.host,
            link.listen.port,
            allowedConnections(config, log),
            link.maxConnectionsPerAddress,
            link.handshakeTimeoutMs,
            link.frameTimeoutMs,
            link.offlineAfterMs};
}

net::TlsFiles tlsFiles(const config::LinkConfig& link)
{
    return {link.certificate, link.key, link.ca, link.crl};
}

TableLimits tableLimits(const config::LinkConfig& link)
{
    return {link.refusalsPerMinute, link.roundsPerMinute, link.offlineNoticeAfterS};
}

std::vector<std::string> tableIds(const rules::Site& site)
{
    std::vector<std::string> ids;
    for (const rules::TableConfig& table : site.tables) ids.push_back(table.id);
    return ids;
}

}  // namespace jackpot
