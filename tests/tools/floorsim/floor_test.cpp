#include <doctest/doctest.h>

#include <thread>

#include "tests/tools/floorsim/in_process_daemon.h"
#include "tools/cli/command_error.h"
#include "tools/floorsim/options.h"

namespace jackpot::floorsim {
namespace {

using namespace std::chrono_literals;

std::uint64_t awardsOf(const FloorResult& result, Tier tier)
{
    return result.view.books.totals().awards[static_cast<std::size_t>(tier)].count;
}

const std::vector<std::string> kAllFaults = {
    "--disconnect",  "30", "--resend",     "30",  "--duplicate",   "40",
    "--void",        "60", "--correct",    "60",  "--suspend",     "40",
    "--late-result", "15", "--late-press", "300", "--wrong-count", "10"};

std::vector<std::string> with(std::vector<std::string> options,
                              const std::vector<std::string>& more)
{
    options.insert(options.end(), more.begin(), more.end());
    return options;
}

}  // namespace

TEST_CASE("a floor of twelve tables plays, and the books agree to the last unit")
{
    InProcessDaemon daemon;
    const FloorResult result = daemon.play({"--rounds", "60"});
    INFO(words(result));
    CHECK(agrees(result));
    const auto& totals = result.view.books.totals();
    CHECK(totals.rounds == 12 * 60);
    CHECK(totals.wagers > 2000);
    CHECK(totals.closed > 200);
    CHECK(totals.commands == totals.rounds * 2 + totals.closed);
    CHECK(totals.refusals.empty());
    CHECK(totals.verified > 0);
    for (const PoolAccount& pool : result.view.books.pools()) {
        CHECK(pool.isExact());
        CHECK(pool.compared() > 200);
    }

    SUBCASE("a second run continues after the first")
    {
        const FloorResult second =
            daemon.play({"--rounds", "30", "--in-flight", "8", "--seed", "2"});
        INFO(words(second));
        CHECK(agrees(second));
        for (const PoolAccount& pool : second.view.books.pools()) CHECK(pool.isChecked());
    }
    SUBCASE("a pool of which only some tables are played is not checked")
    {
        const FloorResult part = daemon.play({"--rounds", "20", "--tables", "BJ01,BJ03,UTH02"});
        INFO(words(part));
        CHECK(agrees(part));
        for (const PoolAccount& pool : part.view.books.pools()) CHECK_FALSE(pool.isChecked());
    }
}

TEST_CASE("with all faults at once the books still agree")
{
    InProcessDaemon daemon;
    const FloorResult result =
        daemon.play(with({"--rounds", "80", "--force-jackpots", "18", "--seed", "5"}, kAllFaults));
    INFO(words(result));
    CHECK(agrees(result));
    const FaultsInjected& injected = result.view.injected;
    CHECK(injected.disconnects > 0);
    CHECK(injected.resends > 0);
    CHECK(injected.duplicates > 0);
    CHECK(injected.voids > 0);
    CHECK(injected.corrections > 0);
    CHECK(injected.suspends > 0);
    CHECK(injected.lateResults > 0);
    CHECK(injected.latePresses > 0);
    CHECK(injected.wrongCounts > 0);
    CHECK(result.view.books.totals().repeatedAnswers > 0);
    CHECK(result.view.connections > 12);
    CHECK(injected.forcedJackpots == 18);
}

TEST_CASE("every forced jackpot is awarded, and its amount is that of the books")
{
    InProcessDaemon daemon;
    const FloorResult result = daemon.play(
        {"--rounds", "40", "--force-jackpots", "20", "--in-flight", "4", "--no-jackpots"});
    INFO(words(result));
    CHECK(agrees(result));
    CHECK(awardsOf(result, Tier::ThreeSevensDiamonds) + awardsOf(result, Tier::ThreeSuitedSevens) +
              awardsOf(result, Tier::RoyalFlush) + awardsOf(result, Tier::StraightFlush) ==
          20);
    CHECK(awardsOf(result, Tier::RoyalFlush) > 0);
    CHECK(awardsOf(result, Tier::StraightFlush) > 0);
    CHECK(awardsOf(result, Tier::Bonus) > 0);
    for (std::uint32_t pool = 0; pool < 2; ++pool) CHECK(result.view.books.winsHeld(pool) == 0);
}

TEST_CASE("a pool with a cap and one table with a window of 0 ms plays")
{
    InProcessDaemon daemon{
        {.sevens = 1, .holdem = 0, .windowMs = 0, .poolExtra = "cap = \"50100.00\"\n"}};
    const FloorResult result = daemon.play(
        {"--rounds", "120", "--force-jackpots", "5", "--void", "100", "--in-flight", "8"});
    INFO(words(result));
    CHECK(agrees(result));
    CHECK(result.view.books.pools()[0].isExact());
}

TEST_CASE("a table with seven open wins is dealt no further jackpot")
{
    InProcessDaemon daemon{{.sevens = 1, .holdem = 0, .windowMs = 0}};
    const FloorResult result = daemon.play({"--rounds", "60", "--force-jackpots", "20"});
    INFO(words(result));
    CHECK(agrees(result));
    CHECK(result.view.injected.forcedJackpots == 7);
    CHECK(result.view.books.totals().refusals.empty());
}

TEST_CASE("ties are held for a ruling, and the books agree to the cent")
{
    InProcessDaemon daemon{{.sevens = 6, .holdem = 0, .windowMs = 3000}};
    const FloorResult result = daemon.play({"--rounds", "12", "--force-jackpots", "6",
                                            "--simultaneous", "--no-jackpots", "--patience", "1"});
    INFO(words(result));
    CHECK(agrees(result));
    CHECK(result.view.books.winsHeld(0) == 6);
    CHECK(result.view.books.pools()[0].isExact());
}

TEST_CASE("the daemon is restarted while the floor plays")
{
    InProcessDaemon daemon;
    std::jthread meanwhile{[&](const std::stop_token& stop) {
        for (int i = 0; i < 2 && !stop.stop_requested(); ++i) {
            std::this_thread::sleep_for(200ms);
            daemon.restart();
        }
    }};
    const FloorResult result =
        daemon.play(with({"--seconds", "1", "--in-flight", "4"}, kAllFaults));
    INFO(words(result));
    CHECK(agrees(result));
    CHECK(result.view.books.totals().goodbyes.contains("SHUTDOWN"));
}

TEST_CASE("an interrupted run finishes its open rounds")
{
    InProcessDaemon daemon;
    auto floor = Floor::open(daemon.settings({"--seconds", "1000", "--rate", "600"}));
    REQUIRE(floor);
    std::atomic<int> interrupt{0};
    int shown = 0;
    const FloorResult result = (*floor)->run(interrupt, [&](const FloorView& view) {
        ++shown;
        if (view.books.totals().rounds > 20) interrupt = 1;
    });
    INFO(words(result));
    CHECK(agrees(result));
    CHECK(result.wasInterrupted);
    CHECK(shown > 0);
    const double rate = static_cast<double>(result.view.rounds) / result.view.elapsedS;
    CHECK(rate < 12 * 10 * 3);
}

TEST_CASE("a resumed run with durable outboxes continues where the killed run stopped")
{
    InProcessDaemon daemon;
    const std::string outbox = (daemon / "outbox").string();
    const auto options = [&](const std::string& rounds) {
        return with({"--rounds", rounds, "--outbox", outbox, "--force-jackpots", "6"}, kAllFaults);
    };
    std::uint64_t wagers = 0;
    {
        const FloorResult first = daemon.play(options("10"));
        INFO(words(first));
        CHECK(agrees(first));
        wagers = first.view.books.totals().wagers;
    }
    daemon.leave();
    const auto refused = Floor::open(daemon.settings(options("20")));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("--resume") != std::string::npos);
    const FloorResult second = daemon.play(with(options("20"), {"--resume"}));
    INFO(words(second));
    CHECK(agrees(second));
    CHECK(second.view.books.totals().rounds == 12 * 20);
    CHECK(second.view.books.totals().wagers > wagers);
    CHECK(second.view.books.pools()[0].isExact());
}

TEST_CASE("without a configuration the daemon supplies the terms of the tables")
{
    InProcessDaemon daemon{{.sevens = 2, .holdem = 2}};
    const FloorSettings configured = daemon.settings({"--rounds", "30"});
    const auto options =
        optionsFrom({"--connect", "127.0.0.1:" + std::to_string(daemon.port()), "--pki",
                     configured.pki.string(), "--rounds", "30", "--void", "50", "--resend", "50"});
    auto floor = Floor::open(options.settings);
    REQUIRE_MESSAGE(floor, (floor ? "" : floor.error().message));
    const std::atomic<int> interrupt{0};
    const FloorResult result = (*floor)->run(interrupt, [](const FloorView&) {});
    INFO(words(result));
    CHECK(agrees(result));
    CHECK(result.view.books.totals().rounds == 4 * 30);
    CHECK(result.view.books.pools().size() == 2);
    for (const PoolAccount& pool : result.view.books.pools()) CHECK_FALSE(pool.isChecked());
}

TEST_CASE("unusable options are refused with the remedy")
{
    const auto refusal = [](const std::vector<std::string>& given) -> std::string {
        try {
            optionsFrom(given);
        } catch (const cli::CommandError& error) {
            CHECK(error.status() == 2);
            return error.what();
        }
        return "";
    };
    CHECK(refusal({}).find("--pki is required") != std::string::npos);
    CHECK(refusal({"--pki", "x"}).find("--config FILE or") != std::string::npos);
    CHECK(refusal({"--pki", "x", "--connect", "h"}).find("HOST:PORT") != std::string::npos);
    CHECK(refusal({"--pki", "x", "--connect", "h:1", "--tables", "A,A"}).find("each table once") !=
          std::string::npos);
    CHECK(refusal({"--pki", "x", "--connect", "h:1", "--tables", "A"}).find("--rounds N") !=
          std::string::npos);
    CHECK(refusal({"--pki", "x", "--connect", "h:1", "--tables", "A", "--rounds", "2", "--rate",
                   "fast"})
              .find("--rate") != std::string::npos);
    CHECK(refusal({"--pki", "x", "--connect", "h:1", "--tables", "A", "--rounds", "2",
                   "--in-flight", "33"})
              .find("from 1 to 32") != std::string::npos);
    CHECK(refusal({"--pki", "x", "--config", "/nowhere.toml", "--rounds", "2"}).find("nowhere") !=
          std::string::npos);
    CHECK(refusal({"--frobnicate"}).find("unknown option") != std::string::npos);
}

}  // namespace jackpot::floorsim
