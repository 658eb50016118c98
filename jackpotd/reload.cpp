#include "jackpotd/reload.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "config/compare.h"
#include "jackpotd/link_settings.h"
#include "jackpotd/service.h"
#include "rules/amendment.h"

namespace jackpot {

Reload::Reload(config::Config running, Log& log, Writer& writer, linkproto::Server& link,
               Displays& displays, DeskService& desk)
    : config_{std::move(running)},
      log_{log},
      writer_{writer},
      link_{link},
      displays_{displays},
      desk_{desk}
{}

ReloadReport Reload::run()
{
    service::reloading();
    ReloadReport report = apply();
    service::ready();
    const bool isComplete = report.problems.empty() && report.notApplied.empty();
    log_.information(isComplete ? "reload: ok" : "reload: refused");
    for (const std::string& each : report.problems) log_.information("reload: " + each);
    for (const std::string& each : report.applied) log_.information("reload: applied: " + each);
    for (const std::string& each : report.notApplied)
        log_.information("reload: not applied: " + each);
    return report;
}

ReloadReport Reload::apply()
{
    ReloadReport report;
    const auto loaded = config::load(config_.file);
    if (!loaded) {
        for (const config::ConfigProblem& problem : loaded.error())
            report.problems.push_back(inWords(problem));
        return report;
    }
    config::Changes changes = compare(config_, *loaded);
    report.applied = std::move(changes.applied);
    report.applied.emplace_back("certificates and revocations were read again");
    std::vector<std::string>& refused = report.notApplied = std::move(changes.refused);
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
    if (config_.desk && loaded->desk) require(applyDesk(*loaded->desk));
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
    return desk_.reload(*config_.desk);
}

ReloadRequests::ReloadRequests() : event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {}

ReloadRequests::~ReloadRequests() { ::close(event_); }

Result<ReloadReport> ReloadRequests::request()
{
    std::future<Result<ReloadReport>> answer;
    {
        const std::scoped_lock lock{mutex_};
        if (isStopped_) return Error{"the daemon is shutting down"};
        answer = waiting_.emplace_back().get_future();
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(event_, &one, sizeof one);
    return answer.get();
}

std::vector<std::promise<Result<ReloadReport>>> ReloadRequests::takeWaiting()
{
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(event_, &count, sizeof count);
    const std::scoped_lock lock{mutex_};
    return std::exchange(waiting_, {});
}

void ReloadRequests::serve(const std::function<ReloadReport()>& reload)
{
    auto waiting = takeWaiting();
    if (waiting.empty()) return;
    const ReloadReport report = reload();
    for (auto& each : waiting) each.set_value(report);
}

void ReloadRequests::stop()
{
    {
        const std::scoped_lock lock{mutex_};
        isStopped_ = true;
    }
    for (auto& each : takeWaiting()) each.set_value(Error{"the daemon is shutting down"});
}

}  // namespace jackpot
