#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "config/identifiers.h"
#include "tests/support/sample_config.h"
#include "tests/support/scratch.h"

namespace jackpot::config {
namespace {

using rules::Money;
using testing::kSampleConfig;
using testing::parsed;
using testing::problemsOf;
using testing::with;
namespace fs = std::filesystem;

TEST_CASE("the sample configuration loads unchanged")
{
    const Loaded loaded = load(JACKPOT_SAMPLE);
    if (!loaded)
        for (const ConfigProblem& problem : loaded.error()) MESSAGE(inWords(problem));
    REQUIRE(loaded);
    CHECK(loaded->site.pools.size() == 2);
    CHECK(loaded->site.tables.size() == 12);
    CHECK(loaded->meters.size() == 2);
    CHECK(loaded->link.certificate ==
          fs::path{JACKPOT_SAMPLE}.parent_path() / "pki/server/jackpotd.pem");
    CHECK(rules::validate(loaded->site).empty());
}

TEST_CASE("the commented-out keys of the sample show the defaults")
{
    std::string text;
    std::ifstream in{JACKPOT_SAMPLE};
    bool inOptional = false;
    for (std::string line; std::getline(in, line);) {
        inOptional = line == "# [meter.drive]" || line == "# [demo]" || line == "# [witness]" ||
                     (inOptional && !line.empty());
        const bool setting =
            !inOptional && line.starts_with("# ") && line.find(" = ") != std::string::npos &&
            line.find("cap") == std::string::npos && line.find("client_ca") == std::string::npos &&
            line.find("notice_command") == std::string::npos &&
            line.find("rounds_per_minute") == std::string::npos;
        text += (setting ? line.substr(2) : line) + "\n";
    }
    const Loaded stated = parse(text, JACKPOT_SAMPLE);
    if (!stated)
        for (const ConfigProblem& problem : stated.error()) MESSAGE(inWords(problem));
    REQUIRE(stated);
    const Config expected = *load(JACKPOT_SAMPLE);
    CHECK(stated->journal == expected.journal);
    CHECK(stated->link == expected.link);
    CHECK(stated->desk == expected.desk);
    CHECK(stated->writer == expected.writer);
    CHECK(stated->site.pools[0].openingAmount() == expected.site.pools[0].openingAmount());
    CHECK(stated->site.tables[0].seats == expected.site.tables[0].seats);
}

TEST_CASE("meters share a unit where listener or display tell them apart")
{
    const std::string text = with(
        with(kSampleConfig, "unit = 2", "unit = 1\ndisplay = \"10.1.2.3\"\nsilent_after_s = 5"),
        "[journal]",
        "[meters]\nlisten = \"0.0.0.0:502\"\nallow = [\"10.0.0.0/8\", \"fd00::/8\"]\n"
        "[journal]");
    const Config config = parsed(text);
    REQUIRE(config.polling);
    CHECK(config.polling->listen == Endpoint{"0.0.0.0", 502});
    CHECK(config.polling->allow ==
          std::vector<Network>{{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10}, 104}, {{0xfd}, 8}});
    CHECK(config.meters[1].unit == 1);
    CHECK(config.meters[1].display ==
          Network{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 2, 3}, 128});
    CHECK(config.meters[1].silentAfterS == 5);
    CHECK_FALSE(config.meters[1].suspendWhenSilent);
    CHECK_FALSE(parsed(kSampleConfig).polling);
}

TEST_CASE("without the section [desk] there is no desk")
{
    CHECK(!parsed(kSampleConfig).desk);
    const Config config = parsed(with(kSampleConfig, "[link]",
                                      "[desk]\nlisten = \"[::1]:1\"\ncertificate = \"c\"\n"
                                      "key = \"k\"\nclient_ca = \"a\"\n[link]"));
    CHECK(config.desk == DeskConfig{.listen = {"::1", 1},
                                    .certificate = "/etc/jackpotd/c",
                                    .key = "/etc/jackpotd/k",
                                    .clientCa = "/etc/jackpotd/a",
                                    .noticeCommand = {}});
}

TEST_CASE("the receivers of checkpoints are read from [witness]")
{
    CHECK(!parsed(kSampleConfig).witness);
    CHECK(parsed(with(kSampleConfig, "[link]", "[witness]\nsyslog = true\n[link]")).witness ==
          WitnessConfig{.file = std::nullopt, .syslog = true, .url = "", .everyS = 10});
    CHECK(parsed(with(kSampleConfig, "[link]",
                      "[witness]\nfile = \"w\"\nurl = \"https://w.example:1\"\nca = \"a\"\n"
                      "every_s = 60\n[link]"))
              .witness == WitnessConfig{.file = "/etc/jackpotd/w",
                                        .syslog = false,
                                        .url = "https://w.example:1",
                                        .ca = "/etc/jackpotd/a",
                                        .everyS = 60});
}

TEST_CASE("without the section [demo] there are no demo tables")
{
    CHECK(!parsed(kSampleConfig).demo);
    const Config config = parsed(with(kSampleConfig, "[link]",
                                      "[desk]\nlisten = \"[::1]:1\"\ncertificate = \"c\"\n"
                                      "key = \"k\"\n[demo]\ntables = [\"BJ01\"]\n[link]"));
    CHECK(config.demo == DemoConfig{.tables = {"BJ01"},
                                    .pki = "/etc/jackpotd/pki",
                                    .outbox = "/etc/jackpotd/outbox-dealer"});
}

TEST_CASE("metrics may be read from this machine, or from the listed networks")
{
    const std::string desk =
        with(kSampleConfig, "[link]",
             "[desk]\nlisten = \"[::1]:1\"\ncertificate = \"c\"\nkey = \"k\"\n[link]");
    const auto& here = parsed(desk).metrics.allow;
    for (const char* const address : {"127.0.0.1", "127.9.9.9", "::1"})
        CHECK(contains(here, address));
    for (const char* const address : {"128.0.0.1", "10.0.0.1", "::2", "", "localhost",
                                      "127.0.0.0/8", "127.0.0.1/32x", "fe80::1%eth0"})
        CHECK_FALSE(contains(here, address));
    const auto& there =
        parsed(with(desk, "[link]", "[metrics]\nallow = [\"10.1.2.0/23\", \"fd00::/9\"]\n[link]"))
            .metrics.allow;
    for (const char* const address : {"10.1.2.0", "10.1.3.255", "::ffff:10.1.3.1", "fd7f::1"})
        CHECK(contains(there, address));
    for (const char* const address : {"10.1.1.255", "10.1.4.0", "fd80::1", "127.0.0.1", "::1"})
        CHECK_FALSE(contains(there, address));
}

TEST_CASE("a small file loads, and missing keys have their defaults")
{
    const Config config = parsed(kSampleConfig);
    CHECK(config.siteName == "star.example/jackpot");
    CHECK(config.journal == JournalConfig{.directory = "/etc/jackpotd/journal",
                                          .key = std::nullopt,
                                          .snapshotEvery = 50'000,
                                          .heartbeatS = 60});
    CHECK(config.link.listen == Endpoint{"127.0.0.1", 7707});
    CHECK(config.link.certificate == "/etc/jackpotd/pki/server.pem");
    CHECK(config.link.maxConnections == 2500);
    CHECK(config.link.maxConnectionsPerAddress == 2500);
    CHECK(config.link.handshakeTimeoutMs == 5000);
    CHECK(config.link.frameTimeoutMs == 5000);
    CHECK(config.link.offlineAfterMs == 5000);
    CHECK(config.link.offlineNoticeAfterS == 60);
    CHECK(config.link.refusalsPerMinute == 60);
    CHECK_FALSE(config.link.roundsPerMinute);
    CHECK_FALSE(config.link.crl);
    CHECK_FALSE(config.link.playerCardKey);
    CHECK(config.writer == WriterConfig{8192, 1024});
    CHECK(config.logLevel == LogLevel::Information);
    CHECK(config.payTableOfPool == std::vector<std::string>{"B5", "U1"});
    CHECK(config.payTables[0].rows.size() == 6);
    CHECK(config.meters[1] == Meter{.id = "M2",
                                    .unit = 2,
                                    .pool = "UTH",
                                    .tables = {"UTH01"},
                                    .listen = {},
                                    .display = {},
                                    .silentAfterS = {}});

    rules::PoolConfig pool;
    pool.id = "UTH";
    pool.game = rules::Game::UltimateTexasHoldem;
    pool.wager = Money::ofDollars(1);
    pool.increment = rules::Rate::ofPartsPerMillion(200'000);
    pool.minimum = Money::ofDollars(60'000);
    pool.bonus = rules::TierAmounts{Money::ofDollars(1000), std::nullopt};
    CHECK(config.site.pools[1] == pool);
    rules::TableConfig table;
    table.id = "BJ01";
    table.pool = "B7";
    table.requirePlayerCard = true;
    CHECK(config.site.tables[0] == table);
}

TEST_CASE("every setting is read")
{
    std::string text = with(kSampleConfig, "directory = \"journal\"",
                            "directory = \"/var/lib/jackpotd\"\nkey = \"../secret/j.key\"\n"
                            "snapshot_every = 100\nheartbeat_s = 3600");
    text = with(text, "ca = \"pki/ca.pem\"", R"(ca = "/ca.pem"
crl = "crl.pem"
player_card_key = "cards"
listen = "[fe80::1:2]:1"
max_connections = 3
max_connections_per_address = 4
handshake_timeout_ms = 100
frame_timeout_ms = 60000
offline_after_ms = 1000
offline_notice_after_s = 7
refusals_per_minute = 5
rounds_per_minute = 6

[writer]
mailbox = 64
batch = 63

[log]
level = "debug")");
    text = with(text, "increment = \"0.235\"", R"(increment = "0.000001"
reserve_increment = "0.999999"
opening = "50000.01"
cap = "60000.00"
payout_unit = "0.05"
simultaneity_window_ms = 0
settle_after_ms = 2000)");
    text = with(text, "seats = 7", R"(seats = 9
require_player_card = false
decks = 6
shuffling_device = true
wager = "5.00")");
    text = with(text, "bonus.royal_flush = \"1000.00\"", R"(bonus.straight_flush = "10.00"
guarantee.royal_flush = "50000.01"
guarantee.straight_flush = "5000.00")");
    const Config config = parsed(text);
    CHECK(config.journal == JournalConfig{"/var/lib/jackpotd", "/etc/secret/j.key", 100, 3600});
    LinkConfig link;
    link.listen = {"fe80::1:2", 1};
    link.certificate = "/etc/jackpotd/pki/server.pem";
    link.key = "/etc/jackpotd/pki/server.key";
    link.ca = "/ca.pem";
    link.crl = "/etc/jackpotd/crl.pem";
    link.playerCardKey = "/etc/jackpotd/cards";
    link.maxConnections = 3;
    link.maxConnectionsPerAddress = 4;
    link.handshakeTimeoutMs = 100;
    link.frameTimeoutMs = 60'000;
    link.offlineAfterMs = 1000;
    link.offlineNoticeAfterS = 7;
    link.refusalsPerMinute = 5;
    link.roundsPerMinute = 6;
    CHECK(config.link == link);
    CHECK(config.writer == WriterConfig{64, 63});
    CHECK(config.logLevel == LogLevel::Debug);
    const rules::PoolConfig& pool = config.site.pools[0];
    CHECK(pool.increment.partsPerMillion() == 1);
    CHECK(pool.reserveIncrement.partsPerMillion() == 999'999);
    CHECK(pool.opening == Money::ofCents(5'000'001));
    CHECK(pool.cap == Money::ofDollars(60'000));
    CHECK(pool.payoutUnit == Money::ofCents(5));
    CHECK(pool.simultaneityWindowMs == 0);
    CHECK(pool.settleAfterMs == 2000);
    CHECK(config.site.pools[1].bonus == rules::TierAmounts{std::nullopt, Money::ofDollars(10)});
    CHECK(config.site.pools[1].guarantee ==
          rules::TierAmounts{Money::ofCents(5'000'001), Money::ofDollars(5000)});
    const rules::TableConfig& table = config.site.tables[0];
    CHECK(table.seats == 9);
    CHECK_FALSE(table.requirePlayerCard);
    CHECK(table.decks == 6);
    CHECK(table.wager == Money::ofDollars(5));
}

TEST_CASE("an address to listen on is a host and a port")
{
    const auto listen = [](const std::string& value) {
        return with(kSampleConfig, "ca = ", "listen = \"" + value + "\"\nca = ");
    };
    for (const char* good :
         {"0.0.0.0:1", "255.255.255.255:65535", "127.0.0.1:0", "localhost:7707", "a-b.example:80",
          "10.example:80", "[::]:7707", "[::1]:7707", "[1:2:3:4:5:6:7:8]:1", "[1::]:1",
          "[::ffff:10.0.0.1]:1", "[fe80::A:b]:1"}) {
        CAPTURE(good);
        CHECK(problemsOf(listen(good)).empty());
    }
    for (const char* bad : {"7707",
                            ":7707",
                            "localhost",
                            "localhost:",
                            "localhost:65536",
                            "localhost:-1",
                            "localhost:07",
                            "localhost:7707x",
                            "256.0.0.1:1",
                            "1.2.3:1",
                            "1.2.3.4.5:1",
                            "01.2.3.4:1",
                            "::1:7707",
                            "[::1]",
                            "[]:1",
                            "[1:2]:1",
                            "[:::]:1",
                            "[1::2::3]:1",
                            "[12345::]:1",
                            "[::g]:1",
                            "[1:2:3:4:5:6:7:8::]:1",
                            "[1:2:3:4:5:6:7:8:9]:1",
                            "[1:]:1",
                            "[:1]:1",
                            "a b:1",
                            "-a:1",
                            "a-:1",
                            "a..b:1",
                            "tcp://a:1",
                            "*:1"}) {
        CAPTURE(bad);
        const auto problems = problemsOf(listen(bad));
        REQUIRE(problems.size() == 1);
        CHECK(problems[0].message.find("[::1]:7707") != std::string::npos);
    }
}

TEST_CASE("displays can poll a socket passed by systemd")
{
    const Config config = parsed(
        with(with(kSampleConfig, "unit = 1", "unit = 1\nlisten = \"systemd:poker\""), "[journal]",
             "[meters]\nlisten = \"systemd:modbus\"\nallow = [\"10.0.0.0/8\"]\n[journal]"));
    CHECK(config.polling->listen == Endpoint{"", 0, "modbus"});
    CHECK(config.meters[0].listen == Endpoint{"", 0, "poker"});
}

TEST_CASE("ids fit file names, certificates and displays")
{
    for (const char* good : {"B", "7", "BJ01", "a.b-c_d", "0123456789abcdef0123456789ABCDEF"})
        CHECK(checkId(good));
    for (const char* bad : {"", ".", "..", "-a", "_a", "a/b", "a b", "a\n",
                            "0123456789abcdef0123456789ABCDEFg", "\xc3\xa9", "a\"", "a*"})
        CHECK_FALSE(checkId(bad));
    CHECK_FALSE(checkId(std::string_view{"a\0b", 3}));
}

TEST_CASE("a site name must be valid as the journal's key name")
{
    for (const char* good : {"a", "star.example/jackpot", "caf\xc3\xa9", "\xf0\x9f\x83\x8f"})
        CHECK(checkSiteName(good));
    for (const char* bad : {"", "a b", "a+b", "a\tb", "a\x01", "a\x7f", "a\xc2\x85", "a\xc2\xa0",
                            "a\xe3\x80\x80", "\xff", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x82"})
        CHECK_FALSE(checkSiteName(bad));
    CHECK(checkSiteName(std::string(128, 'a')));
    CHECK_FALSE(checkSiteName(std::string(129, 'a')));
}

TEST_CASE("a file that cannot be read is reported with its name")
{
    const auto whyNot = [](const fs::path& file) { return inWords(load(file).error().at(0)); };
    CHECK(whyNot("/nowhere/site.toml") ==
          "/nowhere/site.toml: cannot be opened: check the name and its permissions");
    CHECK(whyNot("/etc").find("directory") != std::string::npos);

    const ScratchDirectory scratch;
    const fs::path file = scratch / "site.toml";
    const auto write = [&file](const std::string& text) { writeBytes(file, text); };
    write(std::string{kSampleConfig} + std::string(kMaxFileBytes - kSampleConfig.size(), '\n'));
    CHECK(load(file));
    write(std::string{kSampleConfig} + std::string(kMaxFileBytes - kSampleConfig.size() + 1, '\n'));
    CHECK(whyNot(file).find("1 MiB") != std::string::npos);
    write("");
    CHECK(load(file).error().size() == 5);
}

TEST_CASE("Windows line ends, a byte order mark and quoted keys are TOML too")
{
    std::string text;
    for (const char c : kSampleConfig) text += c == '\n' ? std::string{"\r\n"} : std::string(1, c);
    CHECK(parsed(text) == parsed(kSampleConfig));
    CHECK(parsed("\xef\xbb\xbf" + std::string{kSampleConfig}) == parsed(kSampleConfig));
    CHECK(parsed(with(kSampleConfig, "seats = 7", "\"seats\" = 7")) == parsed(kSampleConfig));
    CHECK(parsed(with(kSampleConfig, "bonus.royal_flush", "bonus . \"royal_flush\"")) ==
          parsed(kSampleConfig));
    CHECK(parsed(with(kSampleConfig, "bonus.royal_flush = \"1000.00\"",
                      "[pool.bonus]\nroyal_flush = \"1000.00\"")) == parsed(kSampleConfig));
}

}  // namespace
}  // namespace jackpot::config
