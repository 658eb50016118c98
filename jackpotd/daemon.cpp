#include "jackpotd/daemon.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>

#include "jackpotd/link_settings.h"
#include "jackpotd/player_cards.h"
#include "jackpotd/self_check.h"
#include "jackpotd/service.h"

namespace jackpot {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kStatusInterval{5};

StartError startError(const Error& error) { return {error.message}; }
StartError startError(const storage::JournalError& error)
{
    return {inWords(error), exitStatusOf(error.kind)};
}

fs::path credential(const std::optional<fs::path>& configured, const char* name)
{
    if (configured) return *configured;
    const char* const directory = std::getenv("CREDENTIALS_DIRECTORY");
    return (directory ? fs::path{directory} : fs::path{"."}) / name;
}

// The configuration gives a new journal its site. Later the journal's site counts, and the
// configuration may only amend it.
Result<void, StartError> amendSite(storage::Journal& journal, const rules::Site& wanted,
                                   rules::TimeMs now)
{
    const bool isNew = journal.state().pools.empty();
    if (!isNew && siteOf(journal.state()) == wanted) return {};
    while (const auto due = journal.state().nextDue()) {
        if (due->atMs > now) break;
        (void)journal.decide(rules::SettleDue{journal.state().pools[due->pool].config.id}, now);
    }
    const rules::Outcome outcome = journal.decide(rules::ConfigureSite{wanted}, now);
    if (outcome.refusal)
        return StartError{"the configuration and the journal disagree: " + outcome.refusal->detail +
                          " (put it back, start, and see jackpotctl change-pool --help)"};
    if (auto committed = journal.commit(); !committed)
        return StartError{inWords(committed.error())};
    return {};
}

std::string counted(std::uint64_t count, const std::string& noun)
{
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

Result<std::unique_ptr<Daemon>, StartError> Daemon::start(const config::Config& config, Log& log)
{
    std::unique_ptr<Daemon> daemon{new Daemon{config, log}};
    if (auto started = daemon->startParts(); !started) {
        daemon->shutDown("the daemon could not start");
        return started.error();
    }
    return daemon;
}

Daemon::Daemon(const config::Config& config, Log& log)
    : config_{config},
      log_{log},
      exitStatus_{EXIT_SUCCESS},
      failureEvent_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}
{}

Daemon::~Daemon()
{
    if (writer_) writer_->stop();
    ::close(failureEvent_);
}

Result<void, StartError> Daemon::startParts()
{
    raiseDescriptorLimit();
    service::setStatus("checking the rules");
    if (const auto checked = checkRules(); !checked)
        return StartError{"the self-check failed: " + checked.error().message, kExitFault};
    auto pseudonym =
        loadPlayerCardPseudonym(credential(config_.link.playerCardKey, "player_card.key"));
    if (!pseudonym) return startError(pseudonym.error());
    auto tls = net::TlsContext::make(net::TlsContext::Role::MutualServer, tlsFiles(config_.link));
    if (!tls) return StartError{tls.error().message + " (see docs/pki.md)"};
    auto journal = openJournal();
    if (!journal) return journal.error();
    const storage::Verifier verifier = journal->verifier();

    startWriter(std::move(*journal));
    auto displays = Displays::start(config_, *writer_, log_);
    if (!displays) return startError(displays.error());
    displays_ = std::move(*displays);
    if (const std::string address = displays_->address(); !address.empty())
        log_.information("displays poll at " + address);
    auto control = net::ControlSocket::listen(config_.journal.directory);
    if (!control) return startError(control.error());
    control_.emplace(std::move(*control));
    if (auto started = startLink(std::move(*tls), std::move(*pseudonym)); !started) return started;
    metrics_.emplace(JACKPOT_VERSION, config_.journal.directory, *writer_, *link_, *displays_,
                     log_);
    startVerification(verifier);
    startWitness();
    log_.information("listening on " + config_.link.listen.host + ":" +
                     std::to_string(link_->port()));
    if (auto started = startDesk(); !started) return started;
    reload_.emplace(config_, log_, *writer_, *link_, *displays_, desk_.get());
    controlRequests_.emplace(*reload_, *writer_, *link_, *displays_, desk_.get());
    return {};
}

Result<storage::Journal, StartError> Daemon::openJournal()
{
    const config::JournalConfig& settings = config_.journal;
    const auto key = storage::PrivateKey::load(credential(settings.key, "journal.key"));
    if (!key) return startError(key.error());
    auto signer = storage::Signer::make(config_.siteName, *key);
    if (!signer) return startError(signer.error());
    service::setStatus("opening and verifying the journal in " + settings.directory.string());
    const JournalClock clock{0};
    auto journal = storage::Journal::open(
        {settings.directory, static_cast<std::uint64_t>(settings.snapshotEvery), {}},
        std::move(*signer), clock.now());
    if (!journal) {
        StartError error = startError(journal.error());
        if (journal.error().kind == storage::JournalError::Kind::Refused)
            error.message +=
                "\njackpotd: begin one with: jackpotctl journal create --key FILE "
                "--name " +
                config_.siteName + " " + settings.directory.string();
        return error;
    }
    if (auto amended = amendSite(*journal, config_.site, clock.now()); !amended)
        return amended.error();
    // Tables are numbered in the journal's order, which may differ from the configuration's.
    config_.site = siteOf(journal->state());
    log_.information("the journal has " + std::to_string(journal->size()) +
                     " records, signed with " + journal->verifier().format());
    return std::move(*journal);
}

void Daemon::startWriter(storage::Journal journal)
{
    writer_ = std::make_unique<Writer>(
        WriterSettings{config_.journal.directory, static_cast<std::size_t>(config_.writer.mailbox),
                       static_cast<std::size_t>(config_.writer.batch),
                       config_.journal.heartbeatS * 1000, tableLimits(config_.link)},
        std::move(journal), log_,
        [this](const storage::JournalError& error) { onJournalFailed(error); });
}

Result<void, StartError> Daemon::startLink(net::TlsContext tls, linkproto::Pseudonym pseudonym)
{
    auto server = linkproto::Server::listen(
        serverSettings(config_, log_), std::move(tls), tableIds(config_.site), std::move(pseudonym),
        [writer = writer_.get()](std::vector<linkproto::Incoming>& incoming) {
            return writer->post(incoming);
        });
    if (!server) return startError(server.error());
    link_ = std::move(*server);
    writer_->setReplySink(
        [link = link_.get()](linkproto::Delivery delivery) { link->deliver(std::move(delivery)); });
    if (const auto started = writer_->start(); !started)
        return StartError{started.error().message, exitStatusOf(storage::JournalError::Kind::Io)};
    return {};
}

void Daemon::startVerification(const storage::Verifier& verifier)
{
    storage::VerifyOptions options;
    options.trusted.push_back(verifier);
    verification_.emplace(
        storage::filesOf(config_.journal.directory), std::move(options),
        [this](const Result<storage::Verified, storage::Fault>& result) {
            using enum Metrics::Verification;
            metrics_->setVerification(result ? Verified : Failed);
            if (result)
                log_.information("all " + std::to_string(result->end) + " records verify");
            else
                writer_->raiseAlarm("journal_does_not_verify", inWords(result.error()));
        });
}

void Daemon::startWitness()
{
    if (!config_.witness) return;
    witness_.emplace(*config_.witness,
                     net::TlsFiles{config_.link.certificate, config_.link.key, config_.witness->ca,
                                   std::nullopt},
                     config_.journal.directory, writer_->readings().changes(), log_,
                     [this](const std::string& code, const std::string& detail) {
                         writer_->raiseAlarm(code, detail);
                     });
}

Result<void, StartError> Daemon::startDesk()
{
    if (config_.demo) {
        auto opened = DemoTables::open(config_, link_->port(), log_);
        if (!opened) return startError(opened.error());
        demoTables_ = std::move(*opened);
    }
    if (!config_.desk) return {};
    auto opened =
        DeskService::open(config_, *writer_, *displays_, demoTables_.get(), log_, *metrics_);
    if (!opened) return startError(opened.error());
    desk_ = std::move(*opened);
    log_.information("the desk is open at https://" + config_.desk->listen.host + ":" +
                     std::to_string(desk_->server().port()));
    return {};
}

// In the writer's thread.
void Daemon::onJournalFailed(const storage::JournalError& error)
{
    exitStatus_ =
        error.kind == storage::JournalError::Kind::Refused ? kExitFault : exitStatusOf(error.kind);
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(failureEvent_, &one, sizeof one);
}

int Daemon::run()
{
    using std::chrono::steady_clock;
    std::array<pollfd, 3> events{{{signals_.descriptor(), POLLIN, 0},
                                  {failureEvent_, POLLIN, 0},
                                  {control_->descriptor(), POLLIN, 0}}};
    service::setStatus(statusLine());
    service::ready();
    service::Watchdog watchdog;
    auto statusAt = steady_clock::now();
    bool isEnding = false;
    while (!isEnding) {
        if (::poll(events.data(), events.size(), Displays::kCheckIntervalMs) < 0) continue;
        displays_->checkWatchdogs();
        log_.reportSuppressed();
        watchdog.feed(writer_->metrics().turns.value());
        if (const auto now = steady_clock::now(); now - statusAt >= kStatusInterval) {
            statusAt = now;
            service::setStatus(statusLine());
        }
        isEnding = handleSignals() || (events[1].revents & POLLIN) != 0;
        if ((events[2].revents & POLLIN) != 0)
            control_->answer(
                [&](const std::string& request) { return controlRequests_->answer(request); });
    }
    service::stopping();
    shutDown("the daemon is shutting down");
    const char* const reason = exitStatus_ == EXIT_SUCCESS
                                   ? "ended by a signal"
                                   : "ended, because the journal cannot be written";
    log_.information(reason);
    service::setStatus(reason);
    return exitStatus_;
}

// True if one of them ends the daemon.
bool Daemon::handleSignals()
{
    bool isEnding = false;
    while (const auto signal = signals_.next()) {
        if (signal->isReload) {
            (void)reload_->run();
            continue;
        }
        log_.information("process " + std::to_string(signal->sender) +
                         " has sent a termination signal");
        isEnding = true;
    }
    return isEnding;
}

std::string Daemon::statusLine() const
{
    if (writer_->isLocked())
        return "LOCKED: nothing is decided until people have resolved it; the log has the reason";
    const WriterMetrics& metrics = writer_->metrics();
    return counted(link_->counters().connections, "table") + " connected, " +
           counted(metrics.commands(), "command") + " decided, " +
           counted(sumOf(metrics.alarms), "alarm") + " since the start";
}

// The parts that submit commands end first, so that the last commit has all of them; the link ends
// last, so that it sends the replies of that commit.
void Daemon::shutDown(const std::string& reason)
{
    using linkproto::v1::Goodbye;
    controlRequests_.reset();
    reload_.reset();
    desk_.reset();
    demoTables_.reset();
    witness_.reset();
    if (writer_) writer_->stop();
    if (!link_) return;
    if (exitStatus_ == EXIT_SUCCESS)
        link_->stop(Goodbye::SHUTDOWN, reason);
    else
        link_->stop(Goodbye::UNAVAILABLE, "the journal cannot be written");
}

}  // namespace jackpot
