// jackpotd: links gaming tables to jackpot pools. From top to bottom: what is needed to start, the
// parts in the order in which they come up, waiting, and the way down.
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <poll.h>
#include <rapidjson/document.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iostream>
#include <memory>
#include <sstream>

#include "base/encoding.h"
#include "config/compare.h"
#include "config/config.h"
#include "console/people/people.h"
#include "console/people/people_requests.h"
#include "jackpotd/demo_tables.h"
#include "jackpotd/desk_service.h"
#include "jackpotd/displays.h"
#include "jackpotd/log.h"
#include "jackpotd/metrics.h"
#include "jackpotd/options.h"
#include "jackpotd/self_check.h"
#include "jackpotd/service.h"
#include "jackpotd/witness.h"
#include "jackpotd/writer.h"
#include "linkproto/server/link_server.h"
#include "net/control_socket.h"
#include "storage/command_json.h"
#include "storage/verify.h"

namespace jackpot {
namespace {

namespace fs = std::filesystem;

std::atomic<int> gExitStatus{EXIT_SUCCESS};

int refuse(std::string_view message, int status = kExitRefused)
{
    std::cerr << "jackpotd: " << message << "\n";
    service::say(message);
    return status;
}

fs::path credential(const std::optional<fs::path>& configured, const char* name)
{
    if (configured) return *configured;
    const char* const directory = std::getenv("CREDENTIALS_DIRECTORY");
    return (directory ? fs::path{directory} : fs::path{"."}) / name;
}

// A player card is journaled as a keyed pseudonym: the same card the same name, and no way back.
Result<linkproto::Pseudonym> pseudonymWith(const fs::path& file)
{
    constexpr std::size_t kLeast = 16;
    constexpr std::size_t kMost = 4096;
    std::ifstream in{file, std::ios::binary};
    std::string key(kMost, '\0');
    in.read(key.data(), static_cast<std::streamsize>(key.size()));
    key.resize(static_cast<std::size_t>(in.gcount()));
    if (key.size() < kLeast)
        return Error{file.string() +
                     ": no secret of at least 16 bytes for the player cards: make one with "
                     "(umask 077; openssl rand -hex 32 > " +
                     file.string() + ")"};
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0 && (status.st_mode & S_IRWXO) != 0)
        return Error{file.string() + ": everyone can read this secret: chmod 600 it"};
    return linkproto::Pseudonym{[key = std::move(key)](std::string_view card) {
        std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
        unsigned size = 0;
        ::HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
               reinterpret_cast<const unsigned char*>(card.data()), card.size(), digest.data(),
               &size);
        return "p-" + encodeHex({reinterpret_cast<const char*>(digest.data()), 16});
    }};
}

net::TlsFiles tlsFiles(const config::LinkConfig& link)
{
    return {link.certificate, link.key, link.ca, link.crl};
}

void allowManyDescriptors()
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

// How many connections of tables leave descriptors for displays, the desk and the journal's files.
std::int64_t connectionsWithin(const config::Config& config, const Log& log)
{
    const std::int64_t wanted = config.link.maxConnections;
    const std::int64_t others = 64 + (config.desk ? config.desk->maxConnections : 0) +
                                (config.polling ? config.polling->maxDisplays : 0);
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
    const auto most = std::max<std::int64_t>(static_cast<std::int64_t>(limit.rlim_cur) - others, 1);
    if (wanted <= most) return wanted;
    log.warning("max_connections is " + std::to_string(wanted) + ", and the system allows " +
                std::to_string(most) + ": raise LimitNOFILE");
    return most;
}

linkproto::ServerSettings serverSettings(const config::Config& config, const Log& log)
{
    const config::LinkConfig& link = config.link;
    return {link.listen.host,
            link.listen.port,
            connectionsWithin(config, log),
            link.maxConnectionsPerAddress,
            link.handshakeTimeoutMs,
            link.frameTimeoutMs,
            link.offlineAfterMs};
}

TableLimits tableLimits(const config::LinkConfig& link)
{
    return {link.refusalsPerMinute, link.roundsPerMinute};
}

std::vector<std::string> idsOf(const std::vector<rules::TableConfig>& tables)
{
    std::vector<std::string> ids;
    for (const rules::TableConfig& table : tables) ids.push_back(table.id);
    return ids;
}

// The site as it should be now: what may change at run time from the file, the rest as it is.
rules::Site amended(const rules::Site& running, const rules::Site& wanted)
{
    rules::Site site = running;
    for (const rules::PoolConfig& pool : wanted.pools)
        if (std::ranges::find(site.pools, pool.id, &rules::PoolConfig::id) == site.pools.end())
            site.pools.push_back(pool);
    for (const rules::TableConfig& table : wanted.tables) {
        const auto there = std::ranges::find(site.tables, table.id, &rules::TableConfig::id);
        if (there == site.tables.end())
            site.tables.push_back(table);
        else if (there->pool == table.pool)
            *there = table;
    }
    return site;
}

// The first site of a journal is the configuration's; later the journal is the truth, and the
// configuration may only add to it.
Result<void> bringSite(storage::Journal& journal, const rules::Site& wanted, rules::TimeMs now)
{
    const bool isNew = journal.state().pools.empty();
    if (!isNew && siteOf(journal.state()) == wanted) return {};
    while (const auto due = journal.state().nextDue()) {
        if (due->atMs > now) break;
        (void)journal.decide(rules::SettleDue{journal.state().pools[due->pool].config.id}, now);
    }
    const rules::Outcome outcome = journal.decide(rules::ConfigureSite{wanted}, now);
    if (outcome.refusal)
        return Error{"the configuration and the journal disagree: " + outcome.refusal->detail +
                     " (put it back, start, and see jackpotctl change-pool --help)"};
    if (auto committed = journal.commit(); !committed) return Error{inWords(committed.error())};
    return {};
}

class Daemon {
public:
    Daemon(config::Config config, Log& log, Writer& writer, linkproto::Server& server,
           Displays& displays, Desk* desk)
        : config_{std::move(config)},
          log_{log},
          writer_{writer},
          server_{server},
          displays_{displays},
          desk_{desk}
    {}

    // What was applied and what was refused, in lines for people, and in the log.
    std::string reload()
    {
        service::reloading();
        std::string answer = readAgain();
        service::ready();
        std::istringstream lines{answer};
        for (std::string line; std::getline(lines, line);) log_.information("reload: " + line);
        return answer;
    }

    // One line for systemctl status.
    std::string inShort() const
    {
        if (writer_.isLocked())
            return "LOCKED: nothing is decided until people have looked at it; the log says why";
        const auto several = [](std::uint64_t count, const std::string& what) {
            return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
        };
        return several(server_.counters().connections, "table") + " connected, " +
               several(writer_.metrics().commands(), "command") + " decided, " +
               several(sumOf(writer_.metrics().alarms), "alarm") + " since the start";
    }

    std::string readAgain()
    {
        const auto loaded = config::load(config_.file);
        if (!loaded) {
            std::string answer = "refused\n";
            for (const config::ConfigProblem& problem : loaded.error())
                answer += inWords(problem) + "\n";
            return answer;
        }
        const config::Changes changes = compare(config_, *loaded);
        std::string refused;
        for (const std::string& each : changes.refused) refused += "not applied: " + each + "\n";

        auto tls =
            net::TlsContext::make(net::TlsContext::Role::MutualServer, tlsFiles(config_.link));
        if (tls)
            server_.setTls(std::move(*tls));
        else
            refused += "not applied: " + tls.error().message + "\n";

        const rules::Site site = amended(config_.site, loaded->site);
        if (site != config_.site) {
            const auto outcome = decide(rules::ConfigureSite{site});
            const std::string why = !outcome           ? outcome.error().message
                                    : outcome->refusal ? outcome->refusal->detail
                                                       : "";
            if (why.empty()) {
                config_.site = site;
                server_.setTables(idsOf(site.tables));
            } else {
                refused += "not applied: pools and tables: " + why + "\n";
            }
        }
        config_.logLevel = loaded->logLevel;
        log_.setLevel(loaded->logLevel);
        for (const auto member :
             {&config::LinkConfig::maxConnections, &config::LinkConfig::maxConnectionsPerAddress,
              &config::LinkConfig::offlineAfterMs, &config::LinkConfig::refusalsPerMinute})
            config_.link.*member = loaded->link.*member;
        config_.link.roundsPerMinute = loaded->link.roundsPerMinute;
        config_.meters = loaded->meters;
        for (const std::string& each : displays_.setMeters(config_))
            refused += "not applied: " + each + "\n";
        server_.setLimits(serverSettings(config_, log_));
        writer_.setLimits(tableLimits(config_.link));
        if (desk_ && loaded->desk) {
            const config::DeskConfig before = *config_.desk;
            config_.desk = loaded->desk;
            config_.desk->listen = before.listen;
            config_.desk->certificate = before.certificate;
            config_.desk->key = before.key;
            config_.desk->clientCa = before.clientCa;
            if (const auto done = desk_->reload(*config_.desk); !done)
                refused += "not applied: " + done.error().message + "\n";
        }

        std::string answer = refused.empty() ? "ok\n" : "refused\n";
        for (const std::string& each : changes.applied) answer += "applied: " + each + "\n";
        answer += "applied: certificates and revocations were read again\n";
        return answer + refused;
    }

    std::string status() const
    {
        const auto& link = server_.counters();
        const WriterMetrics& writer = writer_.metrics();
        std::ostringstream out;
        out << "ok\nconnections " << link.connections << "\ncommands " << writer.commands()
            << "\ncommits " << sumOf(writer.batch.counts()) << "\nrecords "
            << writer.records.value() << "\nwaiting " << writer_.waiting() << "\nrepeated "
            << writer.repeated.value() << "\nrejected " << sumOf(writer.rejected)
            << "\nfailed_reads " << writer.failedReads.value() << "\nalarms "
            << sumOf(writer.alarms) << "\nstrangers " << link.rejected << "\nbad_frames "
            << link.badFrames << "\nstalls " << link.stalls << "\n";
        if (desk_) {
            const auto& desk = desk_->server().counters();
            out << "desk_connections " << desk.connections << "\ndesk_feeds " << desk.feeds
                << "\ndesk_requests " << desk.requests << "\ndesk_refused " << desk.rejectedRequests
                << "\ndesk_turned_away " << desk.rejected << "\ndesk_too_slow " << desk.timedOut
                << "\n";
        }
        return out.str();
    }

    std::string changePool(const std::string& text)
    {
        rapidjson::Document json;
        json.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
        if (json.HasParseError()) return "refused\nit is not well-formed JSON\n";
        auto command = storage::readCommand("pool_change_agreed", json);
        if (!command) return "refused\n" + command.error().message + "\n";
        const auto outcome = decide(std::move(*command));
        if (!outcome) return "refused\n" + outcome.error().message + "\n";
        if (outcome->refusal)
            return "refused\n" + outcome->refusal->detail +
                   (outcome->refusal->rule.empty()
                        ? ""
                        : " (" + std::string{outcome->refusal->rule} + ")") +
                   "\n";
        return "ok\nagreed: it takes effect when the pool next resets\n";
    }

    std::string answer(const std::string& request)
    {
        constexpr std::string_view kChange = "change-pool ";
        if (request.starts_with(kChange)) return changePool(request.substr(kChange.size()));
        if (request.starts_with("user-")) return people(request);
        if (request == "reload") return reload();
        if (request == "status") return status();
        if (request == "meters") return "ok\n" + displays_.inJson() + "\n";
        return "refused\nthere is no request \"" + request.substr(0, 40) + "\"\n";
    }

    // user-add {...}, user-change NAME {...}, user-unlock NAME: the owner of the machine is an
    // administrator, also where nobody else is or all of them are locked out.
    std::string people(const std::string& request)
    {
        if (!desk_) return "refused\nthere is no desk: add the section [desk]\n";
        std::istringstream words{request};
        std::string what;
        std::string name;
        std::string body;
        words >> what;
        if (what != "user-add") words >> name;
        std::getline(words >> std::ws, body);
        console::People& people = desk_->people();
        if (what == "user-add") {
            const auto person = console::readNewPerson(body);
            return person ? answered(people.add(*person, console::People::kLocalActor))
                          : "refused\n" + person.error().message + "\n";
        }
        if (what == "user-change") {
            const auto change = console::readPersonChange(body);
            return change ? answered(people.change(name, *change, console::People::kLocalActor))
                          : "refused\n" + change.error().message + "\n";
        }
        if (what == "user-unlock")
            return answered(people.unlock(name, console::People::kLocalActor));
        return "refused\nthere is no such request about people\n";
    }

private:
    static std::string answered(
        const Result<console::People::Account, console::PeopleError>& account)
    {
        if (!account) return "refused\n" + account.error().message + "\n";
        return "ok\n" + account->name + ", " + std::string{idOf(account->role)} +
               (account->disabled ? ", disabled" : "") + "\n";
    }

    // A writer that fails may leave what it was asked without an answer.
    Result<rules::Outcome> decide(rules::Command command)
    {
        try {
            return writer_.submit(std::move(command)).get();
        } catch (const std::future_error&) {
            return Error{"the journal cannot be written"};
        }
    }

    config::Config config_;
    Log& log_;
    Writer& writer_;
    linkproto::Server& server_;
    Displays& displays_;
    Desk* desk_;
};

int run(const config::Config& config)
{
    Log log{config.logLevel};
    allowManyDescriptors();

    // Signals are read, never caught; every thread started from here on leaves them alone.
    sigset_t signals{};
    ::sigemptyset(&signals);
    for (const int each : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, each);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    const int signalled = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    const int failed = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    // Nothing listens before the self-check has passed and the journal has been verified.
    service::say("checking the rules");
    if (const std::string fault = findRulesFault(); !fault.empty())
        return refuse("the self-check failed: " + fault, kExitFault);
    auto key = storage::PrivateKey::load(credential(config.journal.key, "journal.key"));
    if (!key) return refuse(key.error().message);
    auto signer = storage::Signer::make(config.siteName, *key);
    if (!signer) return refuse(signer.error().message);
    auto pseudonym = pseudonymWith(credential(config.link.playerCardKey, "player_card.key"));
    if (!pseudonym) return refuse(pseudonym.error().message);
    auto tls = net::TlsContext::make(net::TlsContext::Role::MutualServer, tlsFiles(config.link));
    if (!tls) return refuse(tls.error().message + " (see docs/pki.md)");

    service::say("opening and verifying the journal in " + config.journal.directory.string());
    const JournalClock startClock{0};
    auto journal = storage::Journal::open(
        {config.journal.directory, static_cast<std::uint64_t>(config.journal.snapshotEvery), {}},
        std::move(*signer), startClock.now());
    if (!journal) {
        const int status = refuse(inWords(journal.error()), exitStatusOf(journal.error().kind));
        if (journal.error().kind == storage::JournalError::Kind::Refused)
            std::cerr << "jackpotd: begin one with: jackpotctl journal create --key FILE --name "
                      << config.siteName << " " << config.journal.directory.string() << "\n";
        return status;
    }
    if (auto brought = bringSite(*journal, config.site, startClock.now()); !brought)
        return refuse(brought.error().message);
    // Everyone counts tables as the journal does, which the order in the file may not follow.
    config::Config running = config;
    running.site = siteOf(journal->state());
    const storage::Verifier verifier = journal->verifier();
    log.information("the journal has " + std::to_string(journal->size()) +
                    " records, signed with " + verifier.format());

    Writer writer{{config.journal.directory, static_cast<std::size_t>(config.writer.mailbox),
                   static_cast<std::size_t>(config.writer.batch), config.journal.heartbeatS * 1000,
                   tableLimits(config.link)},
                  std::move(*journal),
                  log,
                  [failed](const storage::JournalError& error) {
                      gExitStatus = error.kind == storage::JournalError::Kind::Refused
                                        ? kExitFault
                                        : exitStatusOf(error.kind);
                      const std::uint64_t one = 1;
                      [[maybe_unused]] const auto put = ::write(failed, &one, sizeof one);
                  }};
    auto displays = Displays::start(running, writer, log);
    if (!displays) return refuse(displays.error().message);
    if (const std::string address = (*displays)->address(); !address.empty())
        log.information("displays poll at " + address);
    auto control = net::ControlSocket::listen(config.journal.directory);
    if (!control) return refuse(control.error().message);
    auto server = linkproto::Server::listen(
        serverSettings(config, log), std::move(*tls), idsOf(running.site.tables),
        std::move(*pseudonym),
        [&writer](std::vector<linkproto::Incoming>& heard) { return writer.post(heard); });
    if (!server) return refuse(server.error().message);
    linkproto::Server& link = **server;
    writer.setReplySink(
        [&link](linkproto::Delivery delivery) { link.deliver(std::move(delivery)); });
    if (const auto started = writer.start(); !started)
        return refuse(started.error().message, exitStatusOf(storage::JournalError::Kind::Io));
    Metrics metrics{JACKPOT_VERSION, config.journal.directory, writer, link, **displays, log};
    storage::VerifyOptions verifyOptions;
    verifyOptions.trusted.push_back(verifier);
    const storage::BackgroundVerification verification{
        storage::filesOf(config.journal.directory), std::move(verifyOptions),
        [&](const Result<storage::Verified, storage::Fault>& result) {
            using enum Metrics::Verification;
            metrics.setVerification(result ? Verified : Failed);
            if (result)
                log.information("all " + std::to_string(result->end) + " records verify");
            else
                writer.raiseAlarm("journal_does_not_verify", inWords(result.error()));
        }};
    std::optional<Witness> witness;
    if (config.witness)
        witness.emplace(*config.witness,
                        net::TlsFiles{config.link.certificate, config.link.key, config.witness->ca,
                                      std::nullopt},
                        config.journal.directory, log,
                        [&writer](const std::string& code, const std::string& detail) {
                            writer.raiseAlarm(code, detail);
                        });
    log.information("listening on " + config.link.listen.host + ":" + std::to_string(link.port()));

    const auto refuseAfterAll = [&](const Error& why) {
        writer.stop();
        link.stop(linkproto::v1::Goodbye::SHUTDOWN, "the daemon could not start");
        return refuse(why.message);
    };
    std::unique_ptr<DemoFloor> dealers;
    if (config.demo) {
        auto opened = DemoFloor::open(config, link.port(), log);
        if (!opened) return refuseAfterAll(opened.error());
        dealers = std::move(*opened);
    }
    std::unique_ptr<Desk> desk;
    if (config.desk) {
        auto opened = Desk::open(config, writer, **displays, dealers.get(), log, metrics);
        if (!opened) return refuseAfterAll(opened.error());
        desk = std::move(*opened);
        log.information("the desk is open at https://" + config.desk->listen.host + ":" +
                        std::to_string(desk->server().port()));
    }
    Daemon daemon{std::move(running), log, writer, link, **displays, desk.get()};
    std::array<pollfd, 3> waiting{
        {{signalled, POLLIN, 0}, {failed, POLLIN, 0}, {control->descriptor(), POLLIN, 0}}};
    service::say(daemon.inShort());
    service::ready();
    service::Watchdog watchdog;
    constexpr std::chrono::seconds kSayEvery{5};
    auto said = std::chrono::steady_clock::now();
    bool over = false;
    while (!over) {
        if (::poll(waiting.data(), waiting.size(), Displays::kLookMs) < 0) continue;
        (*displays)->look();
        log.sayLeftOut();
        watchdog.feed(writer.metrics().turns.value());
        if (const auto now = std::chrono::steady_clock::now(); now - said >= kSayEvery) {
            said = now;
            service::say(daemon.inShort());
        }
        signalfd_siginfo signal{};
        while (::read(signalled, &signal, sizeof signal) == sizeof signal) {
            if (signal.ssi_signo == SIGHUP) {
                (void)daemon.reload();
                continue;
            }
            log.information("process " + std::to_string(signal.ssi_pid) + " asks to end");
            over = true;
        }
        if ((waiting[1].revents & POLLIN) != 0) over = true;
        if ((waiting[2].revents & POLLIN) != 0)
            control->answer([&](const std::string& request) { return daemon.answer(request); });
    }
    service::stopping();
    desk.reset();
    dealers.reset();
    witness.reset();
    writer.stop();
    const bool good = gExitStatus == EXIT_SUCCESS;
    link.stop(good ? linkproto::v1::Goodbye::SHUTDOWN : linkproto::v1::Goodbye::UNAVAILABLE,
              good ? "the daemon is shutting down" : "the journal cannot be written");
    const char* const why =
        good ? "ended as asked" : "ended, because the journal cannot be written";
    log.information(why);
    service::say(why);
    return gExitStatus;
}

int start(const Options& options)
{
    const auto config = config::load(options.config);
    if (!config) {
        for (const config::ConfigProblem& problem : config.error())
            std::cerr << inWords(problem) << "\n";
        service::say(inWords(config.error().front()));
        return kExitRefused;
    }
    if (options.checkOnly) {
        std::cout << options.config.string() << ": good: " << config->site.pools.size()
                  << " pools, " << config->site.tables.size() << " tables\n";
        return EXIT_SUCCESS;
    }
    return run(*config);
}

}  // namespace
}  // namespace jackpot

int main(int count, char** arguments)
{
    return jackpot::runWithOptions({arguments + 1, arguments + count}, JACKPOT_VERSION,
                                   jackpot::start);
}
