#include "config/compare.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <utility>

#include "tests/support/sample_config.h"

namespace jackpot::config {
namespace {

using testing::kSampleConfig;
using testing::parsed;
using testing::with;

struct Change {
    std::string_view from;
    std::string_view to;
    std::string_view said;
};

Changes changesOf(std::string_view wanted)
{
    return compare(parsed(kSampleConfig), parsed(wanted));
}

TEST_CASE("an unchanged configuration has no differences")
{
    CHECK(changesOf(kSampleConfig).none());
    CHECK(changesOf(with(kSampleConfig, "[site]", "# a comment\n[site]")).none());
    CHECK(
        changesOf(with(kSampleConfig, "[link]", "[log]\nlevel = \"information\"\n[link]")).none());
}

TEST_CASE("changes that a running daemon applies")
{
    for (const Change& change : std::initializer_list<Change>{
             {"[link]", "[log]\nlevel = \"debug\"\n[link]",
              "[log] level changes from \"information\" to \"debug\""},
             {"ca = ", "max_connections = 9\nca = ",
              "[link] max_connections changes from 2500 to 9"},
             {"ca = ", "max_connections_per_address = 9\nca = ",
              "[link] max_connections_per_address changes from 2500 to 9"},
             {"ca = ", "refusals_per_minute = 9\nca = ",
              "[link] refusals_per_minute changes from 60 to 9"},
             {"ca = ", "rounds_per_minute = 9\nca = ",
              "[link] rounds_per_minute changes from unset to 9"},
             {"ca = ", "offline_after_ms = 7000\nca = ",
              "[link] offline_after_ms changes from 5000 to 7000"},
             {"ca = ", "offline_notice_after_s = 9\nca = ",
              "[link] offline_notice_after_s changes from 60 to 9"},
             {"ca = ", "crl = \"/crl.pem\"\nca = ",
              "[link] crl changes from unset to \"/crl.pem\""},
             {"seats = 7", "seats = 8", "table \"BJ01\": seats changes from 7 to 8"},
             {"seats = 7", "require_player_card = false",
              "table \"BJ01\": require_player_card changes from true to false"},
             {"seats = 7", "decks = 6", "table \"BJ01\": decks changes from unset to 6"},
             {"unit = 1", "unit = 9", "meter \"M1\": unit changes from 1 to 9"},
             {"[[meter]]\nid = \"M1\"",
              "[[meter]]\nid = \"M3\"\nunit = 3\ntables = [\"BJ01\"]\n"
              "[[meter]]\nid = \"M1\"",
              "meter \"M3\" is added for pool \"B7\""},
         }) {
        CAPTURE(change.to);
        const Changes changes = changesOf(with(kSampleConfig, change.from, change.to));
        CHECK(changes.refused == std::vector<std::string>{});
        CHECK(changes.applied == std::vector{std::string{change.said}});
    }
}

TEST_CASE("changes that a running desk applies")
{
    const std::string with_desk =
        with(kSampleConfig, "[link]",
             "[desk]\nlisten = \"[::1]:1\"\ncertificate = \"/c\"\nkey = \"/k\"\n[link]");
    const Config running = parsed(with_desk);
    for (const Change& change : std::initializer_list<Change>{
             {"max_connections = 9", "", "max_connections changes from 500 to 9"},
             {"max_connections_per_address = 9", "",
              "max_connections_per_address changes from 300 to 9"},
             {"max_feeds = 9", "", "max_feeds changes from 250 to 9"},
             {"request_timeout_ms = 900", "", "request_timeout_ms changes from 10000 to 900"},
             {"session_idle_minutes = 9", "", "session_idle_minutes changes from 15 to 9"},
             {"session_hours = 9", "", "session_hours changes from 12 to 9"},
             {"bind_session_to_address = false", "",
              "bind_session_to_address changes from true to false"},
         }) {
        const Changes changes = compare(
            running, parsed(with(with_desk, "[desk]", "[desk]\n" + std::string{change.from})));
        CHECK(changes.refused == std::vector<std::string>{});
        CHECK(changes.applied == std::vector{"[desk] " + std::string{change.said}});
    }
    for (const Change& change : std::initializer_list<Change>{
             {"\"[::1]:1\"", "\"[::1]:2\"", ""},
             {"\"/c\"", "\"/d\"", ""},
             {"\"/k\"", "\"/l\"", ""},
             {"[desk]", "[desk]\nclient_ca = \"/a\"", ""},
             {"[desk]", "[desk]\nnotice_command = [\"/bin/true\"]", ""},
             {"[desk]", "[desk]\nnotice_syslog = true", ""},
             {"[desk]", "[demo]\ntables = [\"BJ01\"]\n[desk]", ""},
             {"[desk]", "[metrics]\nallow = [\"10.0.0.0/8\"]\n[desk]", ""},
             {"[desk]", "[desk]\nsecond_person_from = \"5000.00\"", ""}}) {
        const Changes changes = compare(running, parsed(with(with_desk, change.from, change.to)));
        CHECK(changes.applied == std::vector<std::string>{});
        REQUIRE(changes.refused.size() == 1);
        CHECK(changes.refused[0].ends_with("it takes a restart"));
    }
    CHECK(changesOf(with_desk).refused ==
          std::vector<std::string>{"[desk] is added: it takes a restart"});
    CHECK(compare(running, parsed(kSampleConfig)).refused ==
          std::vector<std::string>{"[desk] is removed: it takes a restart"});
}

TEST_CASE("a change of [witness] needs a restart")
{
    const std::string told = with(kSampleConfig, "[link]", "[witness]\nsyslog = true\n[link]");
    CHECK(changesOf(told).refused ==
          std::vector<std::string>{"[witness] changes: it takes a restart"});
    CHECK(compare(parsed(told), parsed(told)).refused.empty());
}

TEST_CASE("the message for a rejected change names the remedy")
{
    constexpr std::string_view kPropose = "jackpotctl change-pool";
    for (const Change& change : std::initializer_list<Change>{
             {"star.example/jackpot", "moon.example", "a new name is a new journal"},
             {"directory = \"journal\"", "directory = \"other\"", "restart"},
             {"directory = ", "key = \"k\"\ndirectory = ", "rotate-key"},
             {"directory = ", "snapshot_every = 100\ndirectory = ", "restart"},
             {"directory = ", "heartbeat_s = 1\ndirectory = ", "restart"},
             {"ca = ", "listen = \"[::1]:1\"\nca = ",
              "from \"127.0.0.1:7707\" to \"[::1]:1\": it takes a restart"},
             {"pki/server.pem", "pki/other.pem", "restart"},
             {"pki/server.key", "pki/other.key", "restart"},
             {"pki/ca.pem", "pki/other.pem", "restart"},
             {"ca = ", "player_card_key = \"c\"\nca = ", "new pseudonyms"},
             {"ca = ", "handshake_timeout_ms = 100\nca = ", "restart"},
             {"ca = ", "frame_timeout_ms = 100\nca = ", "restart"},
             {"[link]", "[writer]\nmailbox = 2048\n[link]", "[writer] mailbox"},
             {"[link]", "[writer]\nbatch = 1\n[link]", "[writer] batch"},
             {"\"0.235\"", "\"0.2\"", kPropose},
             {"\"50000.00\"", "\"25000.00\"", kPropose},
             {"\"0.235\"", "\"0.235\"\nreserve_increment = \"0.1\"", kPropose},
             {"\"0.235\"", "\"0.235\"\ncap = \"100000.00\"", kPropose},
             {"\"0.235\"", "\"0.235\"\npayout_unit = \"0.05\"", kPropose},
             {"\"0.235\"", "\"0.235\"\nsimultaneity_window_ms = 0", kPropose},
             {"\"0.235\"", "\"0.235\"\nsettle_after_ms = 8000", kPropose},
             {"bonus.royal_flush", "guarantee.royal_flush = \"75000.00\"\nbonus.royal_flush",
              "guarantee.royal_flush changes from unset to $75,000.00"},
             {"bonus.royal_flush", "guarantee.straight_flush = \"7500.00\"\nbonus.royal_flush",
              "guarantee.straight_flush changes from unset to $7,500.00"},
             {"\"0.235\"", "\"0.235\"\nopening = \"50001.00\"", "adjustment of two people"},
             {"\"1000.00\"\n\n", "\"2000.00\"\n\n", "bonus.royal_flush changes from $1,000.00"},
             {"bonus.royal_flush = \"1000.00\"", "", "from $1,000.00 to unset"},
             {"bonus.royal_flush = \"1000.00\"",
              "bonus = { royal_flush = \"1000.00\", straight_flush = \"1.00\" }",
              "bonus.straight_flush changes from unset to $1.00"},
         }) {
        CAPTURE(change.to);
        const Changes changes = changesOf(with(kSampleConfig, change.from, change.to));
        CHECK(changes.applied == std::vector<std::string>{});
        REQUIRE(changes.refused.size() == 1);
        CHECK(changes.refused[0].find(change.said) != std::string::npos);
    }
}

TEST_CASE("a pay table under another id is a change of the pool")
{
    std::string text = with(kSampleConfig, "id = \"B5\"", "id = \"B5b\"");
    text = with(text, "paytable = \"B5\"", "paytable = \"B5b\"");
    const Changes changes = changesOf(text);
    CHECK(changes.applied.empty());
    CHECK(changes.refused == std::vector<std::string>{
                                 "pool \"B7\": paytable changes from \"B5\" to \"B5b\": change it "
                                 "only by a command of two people: jackpotctl change-pool"});
}

TEST_CASE("tables and pools can be added, not removed")
{
    const std::string more = std::string{kSampleConfig} + R"(
[[pool]]
id = "B8"
game = "blazing7s"
paytable = "B5"
wager = "5.00"
increment = "0.1"
minimum = "10000.00"
[[table]]
id = "BJ08"
pool = "B8"
[[meter]]
id = "M8"
unit = 8
tables = ["BJ08"]
)";
    const Changes added = compare(parsed(kSampleConfig), parsed(more));
    CHECK(added.refused.empty());
    CHECK(added.applied == std::vector<std::string>{"pool \"B8\" is added, opening at $10,000.00",
                                                    "table \"BJ08\" is added to pool \"B8\"",
                                                    "meter \"M8\" is added for pool \"B8\""});
    const Changes removed = compare(parsed(more), parsed(kSampleConfig));
    CHECK(removed.applied == std::vector<std::string>{"meter \"M8\" is removed"});
    REQUIRE(removed.refused.size() == 2);
    for (const std::string& sentence : removed.refused)
        CHECK(sentence.find("suspend it instead") != std::string::npos);
}

TEST_CASE("a table keeps its pool")
{
    const std::string two = std::string{kSampleConfig} + R"(
[[pool]]
id = "B8"
game = "blazing7s"
paytable = "B5"
wager = "5.00"
increment = "0.1"
minimum = "10000.00"
)";
    const Changes changes =
        compare(parsed(two), parsed(with(two, "pool = \"B7\"", "pool = \"B8\"")));
    REQUIRE(changes.refused.size() == 1);
    CHECK(changes.refused[0].starts_with("table \"BJ01\": pool changes from \"B7\" to \"B8\": "));
}

TEST_CASE("the order in the file makes no difference")
{
    Config turned = parsed(kSampleConfig);
    std::swap(turned.site.pools[0], turned.site.pools[1]);
    std::swap(turned.payTableOfPool[0], turned.payTableOfPool[1]);
    std::swap(turned.site.tables[0], turned.site.tables[1]);
    std::swap(turned.meters[0], turned.meters[1]);
    CHECK(compare(parsed(kSampleConfig), turned).none());
}

}  // namespace
}  // namespace jackpot::config
