#include "jackpotd/reload.h"

#include <sstream>
#include <vector>

#include "config/compare.h"
#include "jackpotd/link_settings.h"
#include "jackpotd/service.h"
#include "rules/amendment.h"

namespace jackpot {

Reload::Reload(config::Config running, Log& log, Writer& writer, linkproto::Server& link,
               Displays& displays, DeskService* desk)
    : config_{std::move(running)},
      log_{log},
      writer_{writer},
      link_{link},
      displays_{displays},
      desk_{desk}
{}

std::string Reload::run()
{
    service::reloading();
    std::string report = apply();
    service::ready();
    std::istringstream lines{report};
    for (std::string line; std::getline(lines, line);) log_.information("reload: " + line);
    return report;
}

std::string Reload::apply()
{
    const auto loaded = config::load(config_.file);
    if (!loaded) {
        std::string report = "refused\n";
        for (const config::ConfigProblem& problem : loaded.error())
            report += inWords(problem) + "\n";
        return report;
    }
    const config::Changes changes = compare(config_, *loaded);
    std::vector<std::string> refused = changes.refused;
    const auto require = [&refused](const Result<void>& done) {
        if (!done) refused.push_back(done.error().message);
    };

    require(applyTls());
    require(applySite(loaded->site));
    config_.logLevel = loaded->logLevel;
    log_.setLevel(loaded->logLevel);
    config_.meters = loaded->meters;
    for (std::string& each : displays_.setMeters(config_)) refused.push_back(std::move(each));
    applyLinkLimits(loaded->link);
    if (desk_ && loaded->desk) require(applyDesk(*loaded->desk));

    std::string report = refused.empty() ? "ok\n" : "refused\n";
    for (const std::string& each : changes.applied) report += "applied: " + each + "\n";
    report += "applied: certificates and revocations were read again\n";
    for (const std::string& each : refused) report += "not applied: " + each + "\n";
    return report;
}

Result<void> Reload::applyTls()
{
    auto tls = net::TlsContext::make(net::TlsContext::Role::MutualServer, tlsFiles(config_.link));
    if (!tls) return tls.error();
    link_.setTls(std::move(*tls));
    return {};
}

Result<void> Reload::applySite(const rules::Site& wanted)
{
    const rules::Site site = rules::amendedSite(config_.site, wanted);
    if (site == config_.site) return {};
    const auto outcome = awaitAnswer(writer_.submit(rules::ConfigureSite{site}));
    if (!outcome) return Error{"pools and tables: " + outcome.error().message};
    if (outcome->refusal) return Error{"pools and tables: " + outcome->refusal->detail};
    config_.site = site;
    link_.setTables(tableIds(site));
    return {};
}

void Reload::applyLinkLimits(const config::LinkConfig& wanted)
{
    config::LinkConfig& link = config_.link;
    link.maxConnections = wanted.maxConnections;
    link.maxConnectionsPerAddress = wanted.maxConnectionsPerAddress;
    link.offlineAfterMs = wanted.offlineAfterMs;
    link.refusalsPerMinute = wanted.refusalsPerMinute;
    link.roundsPerMinute = wanted.roundsPerMinute;
    link_.setLimits(serverSettings(config_, log_));
    writer_.setLimits(tableLimits(link));
}

// The listener and the file names need a restart; the files themselves are read again.
Result<void> Reload::applyDesk(const config::DeskConfig& wanted)
{
    const config::DeskConfig before = *config_.desk;
    config_.desk = wanted;
    config_.desk->listen = before.listen;
    config_.desk->certificate = before.certificate;
    config_.desk->key = before.key;
    config_.desk->clientCa = before.clientCa;
    return desk_->reload(*config_.desk);
}

}  // namespace jackpot
