#include "storage/record.h"

#include <doctest/doctest.h>

#include <random>

#include "rules/apply.h"
#include "rules/settle_due.h"
#include "storage/command_json.h"
#include "storage/json_read.h"
#include "storage/replay.h"
#include "storage/snapshot.h"
#include "tests/support/rules_fixture.h"
#include "tests/support/rules_history.h"

namespace jackpot::storage {
namespace {

using namespace rules;

std::string commandText(const Command& command)
{
    std::string out;
    JsonText json{out};
    writeCommand(json, command);
    return out;
}

std::string recordOf(State& state, std::uint64_t seq, const Command& command, TimeMs now)
{
    std::string out;
    CHECK(beginCommandRecord(out, seq, now, command));
    const Outcome outcome = apply(state, command, now);
    finishCommandRecord(out, outcome, state);
    return out;
}

Site fullSite()
{
    Site site = siteOf(blazingPool("B7 \"main\" \u2663"), 3);
    site.pools[0].cap = dollars("60000.00000001");
    site.pools[0].opening = dollars("50000.00000001");
    site.pools[0].simultaneityWindowMs = 500;
    site.pools[0].settleAfterMs = 5000;
    site.tables[0].wager = site.pools[0].wager;
    site.tables[0].decks = 6;
    site.pools.push_back(holdemPool());
    site.pools[1].bonus = TierAmounts{dollars("100"), {}};
    site.pools[1].guarantee = TierAmounts{{}, dollars("6000")};
    TableConfig table;
    table.id = "U1";
    table.pool = "UTH";
    table.requirePlayerCard = true;
    site.tables.push_back(table);
    return site;
}

// One of each kind, every field set.
std::vector<Command> oneOfEach()
{
    const AwardRef award{"T1", 7, 3, Tier::RoyalFlush};
    return {
        ConfigureSite{fullSite()},
        OpenRound{"T1", 7, {{1, true, "card", "boss"}, {2, false, {}, {}}}},
        ReportResult{"T1", 7, {"7D"}, {{1, {"7D", "7H"}}, {2, {}}}},
        CorrectResult{{"T1", -7, {}, {}}, {"s1", "s2"}},
        ConfirmJackpot{"T1", 7, 8100},
        CloseRound{"T1", 7},
        RuleOnClaims{"B7", {{{"T1", 7}, {"T2", 3}}, {{"T3", 1}}, {}}, {"eye"}},
        VoidRound{"T1", 7, VoidRoundGround::Invalidated, {1, 9}, "foreign card", {"s1", "s2"}},
        VoidWager{"T1", 7, 3, VoidWagerGround::LossLimit, "late", {"s1"}},
        SuspendTable{"T1", SuspensionGround::Tournament, Origin::Desk, "fault", {"g1"}},
        ResumeTable{"T1", Origin::Desk, "ok", {"g1"}},
        MarkTableOffline{"T1"},
        MarkTableOnline{"T1"},
        SuspendPool{"B7", "audit", {"i1"}},
        ResumePool{"B7", "done", {"i1"}},
        AdjustPool{"B7", dollars("-87.66000001"), "count", {"a", "b"}},
        SettleDue{"B7"},
        WithholdAward{award, "employee", {"a", "b"}},
        ReleaseAward{award, "checked", {"a", "b"}},
        RecordPayment{award, false, dollars("-5000"), "cheque", {"s1"}},
        ChangePool{"B7", fullSite().pools[0], "board", {"a", "b"}},
    };
}

}  // namespace

TEST_CASE("every command survives being journaled")
{
    const std::vector<Command> commands = oneOfEach();
    CHECK(commands.size() == std::variant_size_v<Command>);
    for (std::size_t i = 0; i < commands.size(); ++i) {
        CHECK(commands[i].index() == i);
        const std::string text = commandText(commands[i]);
        CAPTURE(text);
        rapidjson::Document json;
        json.Parse(text.data(), text.size());
        REQUIRE_FALSE(json.HasParseError());
        const auto read = readCommand(kindOf(commands[i]), json);
        REQUIRE(read);
        CHECK(*read == commands[i]);
        CHECK(commandText(*read) == text);
    }
}

TEST_CASE("text of any kind stays what it is, and bytes that are no text are seen")
{
    for (const std::string& text :
         {std::string{"plain"}, std::string{"\"quoted\" \\ back"},
          std::string{"tab\tnl\nnul\0end", 15}, std::string{"\u4e2d\u6587 \u2665 \U0001F0A1"},
          std::string{"\x7f"}}) {
        CAPTURE(text);
        std::string out;
        JsonText json{out};
        json.text(text);
        CHECK(json.isFaithful());
        rapidjson::Document read;
        read.Parse<rapidjson::kParseValidateEncodingFlag>(out.data(), out.size());
        REQUIRE_FALSE(read.HasParseError());
        CHECK(viewOf(read) == text);
    }
    for (const std::string text :
         {"\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe4\xb8"}) {
        std::string out;
        JsonText json{out};
        json.text(text);
        CHECK_FALSE(json.isFaithful());
        rapidjson::Document read;
        read.Parse<rapidjson::kParseValidateEncodingFlag>(out.data(), out.size());
        CHECK_FALSE(read.HasParseError());
    }
}

TEST_CASE("amounts are written as rules::toExact does, and read back to the unit")
{
    std::mt19937_64 random{1};
    for (int i = 0; i < 20'000; ++i) {
        const auto units = static_cast<std::int64_t>(random()) >> (random() % 64);
        const Money amount = Money::ofUnits(units);
        std::string out;
        JsonText{out}.money(amount);
        CHECK(out == "\"" + toExact(amount) + "\"");
        CHECK(moneyIn(toExact(amount)) == amount);
    }
    for (const char* text :
         {"", "1", "1.0", ".00000000", "1.000000000", "-.00000000", "1,00000000", "+1.00000000",
          "92233720368.54775808", "-92233720368.54775809", "1.0000000x", "--1.00000000"}) {
        CAPTURE(text);
        CHECK_THROWS_AS((void)moneyIn(text), BadJson);
    }
}

TEST_CASE("a record that is not what the journal writes is refused, whatever it is")
{
    State state;
    const std::string good = recordOf(state, 0, ConfigureSite{fullSite()}, 5);
    REQUIRE(readRecord(good));
    std::mt19937_64 random{2};
    for (int i = 0; i < 20'000; ++i) {
        std::string bad = good;
        for (std::uint64_t n = random() % 3 + 1; n > 0; --n)
            bad[random() % bad.size()] = static_cast<char>(random());
        if (random() % 4 == 0) bad.resize(random() % bad.size());
        (void)readRecord(bad);  // an answer, no crash
    }
    for (const std::string bad :
         {"", "{}", "[]", "null", "{\"seq\":0}", "{\"seq\":-1,\"time\":0,\"kind\":\"heartbeat\"}",
          "{\"seq\":0.5,\"time\":0,\"kind\":\"heartbeat\"}",
          "{\"seq\":0,\"time\":0,\"kind\":\"round_opened\"}",
          "{\"seq\":0,\"time\":0,\"kind\":\"round_opened\",\"command\":[]}",
          "{\"seq\":0,\"time\":0,\"kind\":\"key_rotated\"}"}) {
        CAPTURE(bad);
        CHECK_FALSE(readRecord(bad));
    }
    CHECK_FALSE(readRecord(good + std::string{"\0", 1}));
    CHECK_FALSE(readRecord(std::string(200'000, '[')));
    CHECK(readRecord("{\"seq\":0,\"time\":0,\"kind\":\"of a later version\"}"));
}

// A payload that is not rewritten for comparison must equal what would be written.
std::size_t requireAsWritten(const std::string& payload, const Record& record)
{
    if (record.asWritten == 0) return 0;
    std::string written;
    REQUIRE(beginCommandRecord(written, record.head.seq, record.head.timeMs, *record.command,
                               record.from));
    REQUIRE(written == payload.substr(0, record.asWritten));
    return 1;
}

TEST_CASE("a plain round that is read the short way is, byte for byte, as it is written")
{
    State state;
    (void)apply(state, ConfigureSite{siteOf(blazingPool(), 2)}, 0);
    std::string good;
    OpenRound open{"T1", 10, {{1, true, "p-5f0c", {}}, {7, true, {}, {}}}};
    (void)beginCommandRecord(good, 20, 30, open, LinkOrigin{40, 50});
    finishCommandRecord(good, apply(state, open, 30), state);
    REQUIRE(requireAsWritten(good, *readRecord(good)) == 1);
    const std::size_t command = readRecord(good)->asWritten;

    std::size_t shortWay = 0;
    std::size_t longWay = 0;
    Record again;  // with what the one before has left in it
    const auto look = [&](const std::string& payload) {
        const auto record = readRecord(payload);
        REQUIRE(static_cast<bool>(record) == static_cast<bool>(readRecord(payload, again)));
        if (!record) return;
        CHECK(again.command == record->command);
        CHECK(again.from == record->from);
        CHECK(again.asWritten == record->asWritten);
        ++(requireAsWritten(payload, *record) == 1 ? shortWay : longWay);
    };
    for (std::size_t at = 0; at < command; ++at) {
        for (int byte = 0; byte < 256; ++byte) {
            std::string other = good;
            other[at] = static_cast<char>(byte);
            look(other);
            look(good.substr(0, at) + static_cast<char>(byte) + good.substr(at));
        }
        look(good.substr(0, at) + good.substr(at + 1));
    }
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"\"p-5f0c\"", "\"\""},
             {"\"p-5f0c\"", "\"\\u0070\""},
             {"\"seat\":7", "\"seat\":7,\"base_wager\":false"},
             {"\"seat\":7", "\"seat\":7,\"base_wager\":true"},
             {"[{", "[ {"},
             {"\"T1\"", "\"\xc3\xa9\""},
             {"\"T1\"", "\"\xff\""}}) {
        std::string other = good;
        other.replace(other.find(from), from.size(), to);
        const auto record = readRecord(other);
        look(other);
        if (record) CHECK(record->asWritten == 0);
    }
    CHECK(shortWay > 1000);
    CHECK(longWay > 100);
}

TEST_CASE("numbers have one form")
{
    for (const char* bad :
         {"{\"seq\":00,\"time\":0,\"kind\":\"x\"}", "{\"seq\":0,\"time\":01,\"kind\":\"x\"}",
          "{\"seq\":0,\"time\":-0,\"kind\":\"x\"}", "{\"seq\":-0,\"time\":0,\"kind\":\"x\"}"})
        CHECK_FALSE(readRecord(bad));
    CHECK(readRecord("{\"seq\":0,\"time\":-1,\"kind\":\"x\"}"));
}

TEST_CASE("random histories: a replay gives the same records and state, a snapshot the same state")
{
    std::mt19937_64 random{3};
    std::size_t records = 0;
    for (int history = 0; history < 60; ++history) {
        Site site = siteOf(blazingPool(), 4);
        site.pools[0].opening = dollars("60000");
        site.pools[0].reserveIncrement = Rate::ofPartsPerMillion(10'000);
        site.pools.push_back(holdemPool());
        for (const char* id : {"U1", "U2"}) {
            TableConfig table;
            table.id = id;
            table.pool = "UTH";
            site.tables.push_back(table);
        }
        State state;
        Replay replay;
        TimeMs now = 0;
        std::uint64_t seq = 0;
        const auto both = [&](const Command& command) {
            const std::string payload = recordOf(state, seq, command, now);
            const auto record = readRecord(payload);
            REQUIRE(record);
            CHECK(replay.step(seq, *record, payload) == "");
            ++seq;
        };
        both(ConfigureSite{site});
        for (int i = 0; i < 150; ++i) {
            const Move move{
                static_cast<std::uint8_t>(random() % kMoveKinds),
                static_cast<std::uint8_t>(random() % 6), static_cast<std::uint8_t>(random()),
                static_cast<std::uint8_t>(random()), static_cast<std::uint16_t>(random() % 1000)};
            now += move.ms;
            settleDue(state, now, [&](const SettleDue& due, TimeMs) { both(due); });
            both(commandFor(state, move));
        }
        CHECK(replay.state() == state);
        const std::string text = writeState(state);
        const auto read = readState(text);
        REQUIRE(read);
        CHECK(*read == state);
        CHECK(writeState(*read) == text);
        records += seq;
    }
    CHECK(records > 9'000);
}

TEST_CASE("a snapshot that is not what was written is refused or reads as something else")
{
    RulesFixture floor{blazingPool(), 2};
    (void)floor.open("T1", 1, {1, 2});
    (void)floor.result("T1", 1, {"7S"}, {{1, {"7S", "7S"}}, {2, {"7C", "KC"}}});
    (void)floor.confirm("T1", 1);
    const std::string good = writeState(floor.state);
    std::mt19937_64 random{4};
    for (int i = 0; i < 20'000; ++i) {
        std::string bad = good;
        bad[random() % bad.size()] ^= static_cast<char>(1U << (random() % 7));
        const auto read = readState(bad);
        if (read) CHECK((!(*read == floor.state) || writeState(*read) == good));
    }
    CHECK_FALSE(readState(""));
    CHECK_FALSE(readState("{\"site\":{}}"));
}

TEST_CASE("a change of parameters is in the record of its agreement and of its reset")
{
    RulesFixture floor{blazingPool(), 1};
    PoolParameters to = blazingPool();
    to.minimum = dollars("25000");
    const std::string agreed =
        recordOf(floor.state, 1, ChangePool{"B7", to, "board", {"a", "b"}}, 10);
    const std::string parameters =
        R"("from":{"increment":"0.2","reserve_increment":"0","minimum":"50000.00000000",)"
        R"("payout_unit":"0.01000000","simultaneity_window_ms":2000,"settle_after_ms":10000},)"
        R"("to":{"increment":"0.2","reserve_increment":"0","minimum":"25000.00000000",)"
        R"("payout_unit":"0.01000000","simultaneity_window_ms":2000,"settle_after_ms":10000}},"pools":[)";
    CHECK(agreed.find(R"("parameters":{"pool":"B7","state":"agreed",)" + parameters) !=
          std::string::npos);

    const std::string pending = writeState(floor.state);
    CHECK(pending.find(R"("next":{"increment":"0.2",)") != std::string::npos);
    CHECK(pending.find(R"("next_is_due":false)") != std::string::npos);
    CHECK(*readState(pending) == floor.state);

    // The jackpot resets the meter; its payment makes it final.
    floor.now = 10;
    floor.claim("T1", 1, "7D");
    (void)floor.confirm("T1", 1);
    (void)floor.wait(kDefaultSettleAfterMs);
    const RecordPayment payment{
        {"T1", 1, 1, Tier::ThreeSevensDiamonds}, false, dollars("50001"), "", {"a"}};
    const std::string reset = recordOf(floor.state, 2, payment, floor.now);
    CHECK(reset.find(R"("notices":[{"kind":"parameters_in_force","to":["inspector"],)"
                     R"("rule":"BJ 14.26.2"}],)") != std::string::npos);
    CHECK(reset.find(R"("parameters":{"pool":"B7","state":"in_force",)" + parameters) !=
          std::string::npos);
    CHECK(*readState(writeState(floor.state)) == floor.state);
    CHECK(writeState(floor.state).find(R"("next":)") == std::string::npos);
}

TEST_CASE("an amendment is in its record with what it changed, and the state reads back")
{
    RulesFixture floor{blazingPool(), 1};
    Site site = siteOf(floor.state);
    site.pools.insert(site.pools.begin(), holdemPool());
    site.tables.push_back(linkedTable("U1", "UTH"));
    site.tables[0].seats = 9;
    const std::string record = recordOf(floor.state, 1, ConfigureSite{site}, 10);
    CHECK(record.find(R"("amended":{"new_pools":["UTH"],"new_tables":["U1"],)"
                      R"("changed_tables":["T1"]},"pools":[{"pool":"B7","postings":{},)") !=
          std::string::npos);
    CHECK(*readState(writeState(floor.state)) == floor.state);
    CHECK(recordOf(floor.state, 2, ConfigureSite{site}, 20).find("amended") == std::string::npos);
}

TEST_CASE("a record with a wrong outcome is named with what the rules give")
{
    State state;
    std::vector<std::string> payloads{
        recordOf(state, 0, ConfigureSite{siteOf(blazingPool(), 1)}, 0)};
    payloads.push_back(recordOf(state, 1, OpenRound{"T1", 1, {{1, true, {}, {}}}}, 10));
    std::string& forged = payloads[1];
    forged.replace(forged.find("50001.00000000"), 14, "50001.00000001");
    Replay replay;
    CHECK(replay.step(0, *readRecord(payloads[0]), payloads[0]) == "");
    const std::string what = replay.step(1, *readRecord(forged), forged);
    CHECK(what.find("50001.00000001") != std::string::npos);
    CHECK(what.find("50001.00000000") != std::string::npos);
}

TEST_CASE("the numbers of a table's commands go up by one, and a replay sees one that does not")
{
    State state;
    std::vector<std::string> payloads{
        recordOf(state, 0, ConfigureSite{siteOf(blazingPool(), 2)}, 0)};
    const auto numbered = [&](const char* table, std::int64_t round, std::uint64_t number) {
        const Command command = OpenRound{table, round, {{1, true, {}, {}}}};
        const LinkOrigin from{number, 1'700'000'000'000};
        std::string payload;
        REQUIRE(beginCommandRecord(payload, payloads.size(), 10, command, from));
        const auto added = addToSequence(state, command, number, payloads.size());
        finishCommandRecord(payload, apply(state, command, 10), state);
        payloads.push_back(payload);
        return added ? "" : added.error().message;
    };
    CHECK(numbered("T1", 1, 1) == "");
    CHECK(numbered("T2", 1, 1) == "");
    CHECK(numbered("T1", 2, 2) == "");
    CHECK(payloads[3].find(R"("kind":"round_opened","from":{"number":2,"clock":1700000000000},)") !=
          std::string::npos);
    CHECK(state.tables[0].sequence.last() == 2);
    CHECK(state.tables[0].sequence.findRecord(2) == 3);
    CHECK(state.tables[0].wagers == 1);  // the second round is refused: the first has no result
    CHECK(*readState(writeState(state)) == state);
    CHECK(numbered("T1", 3, 2) == "it is number 2 of table T1, after 2");

    Replay replay;
    for (std::size_t i = 0; i < 4; ++i)
        CHECK(replay.step(i, *readRecord(payloads[i]), payloads[i]) == "");
    CHECK(replay.step(4, *readRecord(payloads[4]), payloads[4]) ==
          "it is number 2 of table T1, after 2");
}

}  // namespace jackpot::storage
