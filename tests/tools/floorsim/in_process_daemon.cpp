#include "tests/tools/floorsim/in_process_daemon.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>

#include "config/config.h"
#include "linkproto/client/clock_reading.h"
#include "storage/journal.h"
#include "tests/support/sample_config.h"
#include "tools/floorsim/report.h"

namespace jackpot::floorsim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "house.example/jackpot";

constexpr std::string_view kHead = R"([site]
name = "house.example/jackpot"
[journal]
directory = "journal"
key = "journal.key"
[link]
listen = "127.0.0.1:1"
certificate = "d.pem"
key = "d.key"
ca = "ca.pem"
player_card_key = "cards.key"
offline_after_ms = 1000
)";
// A lost link is known by then: offline_after_ms and a heartbeat.
constexpr int kLeastWaitMs = 2000;

constexpr std::string_view kSevensPool = R"([[pool]]
id = "B7"
game = "blazing7s"
paytable = "B5"
wager = "5.00"
increment = "0.235431"
reserve_increment = "0.015"
minimum = "50000.00"
payout_unit = "0.05"
)";

constexpr std::string_view kHoldemPool = R"([[pool]]
id = "UTH"
game = "uth"
paytable = "U1"
wager = "2.50"
increment = "0.2"
minimum = "40000.00"
opening = "61234.56"
bonus.royal_flush = "1000.00"
bonus.straight_flush = "100.00"
)";

std::string idOf(const char* prefix, int number)
{
    return prefix + std::string{number < 10 ? "0" : ""} + std::to_string(number);
}

std::int64_t nowMs() { return linkproto::ClockReading::now().wallMs; }

}  // namespace

InProcessDaemon::InProcessDaemon(const DaemonOptions& options, Cheats cheats)
    : authority_{scratch_.path(), "ca"},
      daemonFiles_{authority_.daemon()},
      cheats_{std::move(cheats)}
{
    std::string text{kHead};
    text += config::testing::with(config::testing::samplePaytables(), "wager = \"1.00\"",
                                  "wager = \"2.50\"");
    text += kSevensPool;
    text += "simultaneity_window_ms = " + std::to_string(options.windowMs) +
            "\nsettle_after_ms = " + std::to_string(options.windowMs + kLeastWaitMs) + "\n" +
            options.poolExtra;
    if (options.holdem > 0) text += kHoldemPool;
    std::string meter = "[[meter]]\nid = \"M\"\nunit = 1\ntables = [";
    std::string otherMeter = "[[meter]]\nid = \"N\"\nunit = 2\ntables = [";
    for (int i = 1; i <= options.sevens; ++i) {
        tables_.push_back(idOf("BJ", i));
        text += "[[table]]\nid = \"" + tables_.back() + "\"\npool = \"B7\"\n";
        if (i == 2) text += "require_player_card = false\n";
        meter += "\"" + tables_.back() + "\",";
    }
    for (int i = 1; i <= options.holdem; ++i) {
        tables_.push_back(idOf("UTH", i));
        text += "[[table]]\nid = \"" + tables_.back() + "\"\npool = \"UTH\"\nseats = 6\n";
        if (i == 1) text += "require_player_card = false\n";
        otherMeter += "\"" + tables_.back() + "\",";
    }
    text += meter + "]\n" + (options.holdem > 0 ? otherMeter + "]\n" : "");
    scratch_.write("jackpotd.toml", text);
    const auto config = config::load(scratch_ / "jackpotd.toml");
    REQUIRE_MESSAGE(config, (config ? "" : inWords(config.error().front())));
    site_ = config->site;

    fs::create_directories(scratch_ / "pki/table");
    fs::copy(authority_.ca(), scratch_ / "pki/ca.pem");
    for (const std::string& id : tables_) {
        const auto files = authority_.table(id);
        fs::rename(files.certificate, scratch_.path() / "pki/table" / (id + ".pem"));
        fs::rename(files.key, scratch_.path() / "pki/table" / (id + ".key"));
    }
    const auto key = storage::PrivateKey::generate();
    REQUIRE(key.writeTo(scratch_ / "journal.key"));
    fs::create_directories(scratch_ / "journal");
    start(true);
}

InProcessDaemon::~InProcessDaemon() { stop(); }

void InProcessDaemon::start(bool isNew)
{
    auto key = storage::PrivateKey::load(scratch_ / "journal.key");
    REQUIRE(key);
    auto signer = storage::Signer::make(kName, *std::move(key));
    REQUIRE(signer);
    storage::JournalSettings where{.directory = scratch_ / "journal", .vfs = ""};
    auto journal = isNew ? storage::Journal::create(where, *std::move(signer), nowMs())
                         : storage::Journal::open(where, *std::move(signer), nowMs());
    REQUIRE_MESSAGE(journal, (journal ? "" : inWords(journal.error())));
    if (isNew) {
        REQUIRE_FALSE(journal->decide(rules::ConfigureSite{site_}, nowMs()).refusal);
        REQUIRE(journal->commit());
    }
    WriterSettings settings;
    settings.journalDirectory = where.directory;
    writer_ = std::make_unique<Writer>(settings, *std::move(journal), log_,
                                       [](const storage::JournalError&) {});
    auto tls = net::TlsContext::make(net::TlsContext::Role::MutualServer, daemonFiles_);
    REQUIRE(tls);
    linkproto::ServerSettings listen;
    listen.port = port_;
    auto server = linkproto::Server::listen(
        listen, *std::move(tls), tables_,
        [](std::string_view card) { return "p-" + std::string{card}; },
        [this](std::vector<linkproto::Incoming>& incoming) {
            if (cheats_.ignores) std::erase_if(incoming, cheats_.ignores);
            if (cheats_.heard)
                for (linkproto::Incoming& each : incoming) cheats_.heard(each);
            return writer_->post(incoming);
        });
    REQUIRE_MESSAGE(server, (server ? "" : server.error().message));
    server_ = *std::move(server);
    port_ = server_->port();
    writer_->setReplySink([this](linkproto::Delivery delivery) {
        if (cheats_.onDelivery) cheats_.onDelivery(delivery);
        server_->deliver(std::move(delivery));
    });
    REQUIRE(writer_->start());
}

void InProcessDaemon::stop()
{
    if (server_) server_->stop(linkproto::GoodbyeReason::Shutdown, "the test ends");
    if (writer_) writer_->stop();
    server_.reset();
    writer_.reset();
}

void InProcessDaemon::restart()
{
    stop();
    start(false);
}

FloorSettings InProcessDaemon::settings(const std::vector<std::string>& options) const
{
    std::vector<std::string> all = {"--config",  (scratch_ / "jackpotd.toml").string(),
                                    "--pki",     (scratch_ / "pki").string(),
                                    "--connect", "127.0.0.1:" + std::to_string(port_)};
    all.insert(all.end(), options.begin(), options.end());
    return optionsFrom(all).settings;
}

FloorResult InProcessDaemon::play(const std::vector<std::string>& options)
{
    auto floor = Floor::open(settings(options));
    REQUIRE_MESSAGE(floor, (floor ? "" : floor.error().message));
    floors_.push_back(*std::move(floor));
    const std::atomic<int> interrupt{0};
    return floors_.back()->run(interrupt, [](const FloorView&) {});
}

std::string words(const FloorResult& result) { return reportText(result); }

bool agrees(const FloorResult& result) { return result.view.books.mistakeCount() == 0; }

bool says(const FloorResult& result, std::string_view what)
{
    return std::ranges::any_of(result.view.books.mistakes(), [&](const std::string& each) {
        return each.find(what) != std::string::npos;
    });
}

FloorOptions optionsFrom(const std::vector<std::string>& given)
{
    FloorOptions options;
    cli::Program program{"floorsim", "0", "test"};
    declareCommandLine(program.root(), [&](const FloorOptions& read) {
        options = read;
        return 0;
    });
    const int status = program.parse(given).execute();
    REQUIRE(status == 0);
    return options;
}

}  // namespace jackpot::floorsim
