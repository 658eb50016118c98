#include <doctest/doctest.h>

#include "base/encoding.h"
#include "tests/linkproto/session_fixture.h"
#include "tests/support/scratch.h"

namespace jackpot::linkproto::testing {

TEST_CASE("the newest receipt, also one from a settlement, is stored and sent in the next Hello")
{
    Table table;
    goOnline(table);
    REQUIRE(table.enqueue(reportResult(1)));
    table.decide(1);
    ToTable message;
    message.mutable_settlement()->set_displayed_cents(77);
    message.mutable_settlement()->mutable_receipt()->set_size(9);
    message.mutable_settlement()->mutable_receipt()->set_note("note 9");
    table.say(message);
    CHECK(table.session.displayedCents() == 77);
    message.mutable_settlement()->mutable_receipt()->set_size(8);
    message.mutable_settlement()->mutable_receipt()->set_note("note 8");
    table.say(message);
    message.mutable_settlement()->mutable_receipt()->set_size(10);
    message.mutable_settlement()->mutable_receipt()->set_note(std::string(5000, 'x'));
    table.say(message);
    (void)table.sent();
    table.disconnect();
    table.connect();
    CHECK(table.sent().at(0).hello().receipt() == "note 9");
}

TEST_CASE("news is passed to the callback and stored")
{
    Table table;
    goOnline(table);
    ToTable message;
    message.mutable_suspension()->set_suspended(true);
    table.say(message);
    CHECK(table.session.isSuspended());
    CHECK_FALSE(table.session.mayTakeWagers(table.now()));
    CHECK(table.session.canOpenRound(table.now()));  // the daemon refuses it, with the rule
    message.mutable_suspension()->set_suspended(false);
    table.say(message);
    message.mutable_pool()->set_displayed_cents(4711);
    message.mutable_pool()->set_open(true);
    table.say(message);
    CHECK(table.session.displayedCents() == 4711);
    table.session.query(table.now());
    CHECK(table.sent().at(0).has_query());
    message.mutable_state()->set_round(9);
    message.mutable_state()->mutable_pool()->set_open(true);
    table.say(message);
    CHECK(table.session.state().round() == 9);
    CHECK(table.takeEvents() == Strings{"suspended", "resumed", "pool", "state", "pool"});
}

TEST_CASE("decisions must come in order; others end the connection, and old ones are ignored")
{
    Table table;
    goOnline(table);
    REQUIRE(table.enqueue(reportResult(1)));
    REQUIRE(table.enqueue(reportResult(2)));
    table.decide(1);
    table.decide(1);
    CHECK(table.decided == Numbers{1});
    CHECK_FALSE(table.session.mustHangUp());
    table.decide(3);
    CHECK(table.session.mustHangUp());
    CHECK(table.session.outbox().entries().size() == 1);
}

TEST_CASE("a command that the daemon would call malformed is refused before it is stored")
{
    Table table;
    goOnline(table);
    const auto refuses = [&](const Command& command) {
        const bool refused = !table.enqueue(command);
        CHECK(table.session.outbox().entries().empty());
        return refused;
    };
    CHECK(refuses(Command{}));
    CHECK(refuses(openRound(1, 10)));
    Command command;
    command.mutable_suspend()->set_ground(link::v2::Suspend::MALFUNCTION);
    command.mutable_suspend()->set_reason(std::string(257, 'x'));
    CHECK(refuses(command));
    for (const std::string_view text :
         {"\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF", "\xE2\x82", "a\x80"}) {
        command.mutable_suspend()->set_ground(link::v2::Suspend::MALFUNCTION);
        command.mutable_suspend()->set_reason(std::string{text});
        CHECK(refuses(command));
    }
    for (const std::string_view text : {"", "Caf\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x83\x8F"}) {
        command.mutable_suspend()->set_ground(link::v2::Suspend::MALFUNCTION);
        command.mutable_suspend()->set_reason(std::string{text});
        CHECK(table.enqueue(command));
    }
}

TEST_CASE("with a half-full outbox no round is opened, and a full one accepts no command")
{
    Table table;
    goOnline(table);
    for (std::size_t i = 0; i < Outbox::kMaxEntries / 2; ++i)
        REQUIRE(table.enqueue(reportResult(1)));
    CHECK_FALSE(table.enqueue(openRound(1)));
    for (std::size_t i = 0; i < Outbox::kMaxEntries / 2; ++i)
        REQUIRE(table.enqueue(reportResult(1)));
    const auto refused = table.enqueue(reportResult(1));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("full") != std::string::npos);
}

TEST_CASE("several commands are stored together or not at all")
{
    Table table;
    goOnline(table);
    std::vector<Command> commands{openRound(1), reportResult(1)};
    CHECK(*table.session.enqueue(commands, table.now()) == 1);
    CHECK(table.sentNumbers() == Numbers{1, 2});
    commands[1].mutable_suspend()->set_ground(link::v2::Suspend::MALFUNCTION);
    commands[1].mutable_suspend()->set_reason("\xFF");
    CHECK_FALSE(table.session.enqueue(commands, table.now()));
    CHECK(table.session.outbox().entries().size() == 2);
    CHECK(table.session.openRound() == std::nullopt);
}

TEST_CASE("after an accepted restore a table renumbers the commands in its outbox")
{
    const ScratchDirectory scratch;
    const auto file = scratch / "outbox";
    Table table{Outbox::open(file, "BJ01", "boot-a").value()};
    table.connect();
    CHECK(table.sent().at(0).hello().decided() == 0);
    const auto welcome = [&](std::uint64_t known, bool restored) {
        ToTable message;
        message.mutable_welcome()->set_version(kLinkVersion);
        message.mutable_welcome()->set_last_number(known);
        message.mutable_welcome()->set_restored(restored);
        message.mutable_welcome()->mutable_state()->set_table("BJ01");
        message.mutable_welcome()->mutable_state()->set_wagers(5);
        message.mutable_welcome()->mutable_state()->mutable_pool()->set_open(true);
        table.say(message);
    };
    welcome(0, false);
    for (std::uint64_t number = 1; number <= 6; ++number) {
        REQUIRE(table.enqueue(openRound(static_cast<std::int64_t>(number), 2)));
        table.decide(number);
    }
    REQUIRE(table.enqueue(reportResult(6)));
    REQUIRE(table.enqueue(openRound(7, 3)));
    table.disconnect();
    (void)table.takeEvents();

    // As long as nobody has accepted it, nothing is sent and nothing is changed.
    table.connect();
    CHECK(table.sent().at(0).hello().decided() == 6);
    welcome(2, false);
    CHECK(table.takeEvents() == Strings{"welcome", "fault lost commands"});
    CHECK(table.sentNumbers().empty());
    CHECK(table.session.outbox().memory().receipt == "note 6");
    CHECK_FALSE(table.session.canOpenRound(table.now()));
    table.disconnect();

    table.connect();
    (void)table.sent();
    welcome(2, true);
    CHECK(table.takeEvents() == Strings{"welcome", "fault lost commands"});
    const auto sent = table.sent();
    REQUIRE(sent.size() == 2);
    CHECK(sent[0].command().number() == 3);
    CHECK(sent[0].command().report_result().round() == 6);
    CHECK(sent[1].command().number() == 4);
    CHECK(sent[1].command().open_round().round() == 7);
    CHECK(table.session.outbox().memory().receipt.empty());
    CHECK(table.session.outbox().memory().wagers == 5);
    CHECK(table.session.openRound() == 7);
    CHECK(table.session.canOpenRound(table.now()));
    // It is on the disk like that, should the power go now.
    std::filesystem::copy_file(file, scratch / "copy");
    {
        const auto copy = Outbox::open(scratch / "copy", "BJ01", "boot-a").value();
        CHECK(copy.memory() == table.session.outbox().memory());
        REQUIRE(copy.entries().size() == 2);
        CHECK(copy.entries()[0].number == 3);
    }
    // Receipts of the new history are taken, though they are smaller.
    table.decide(3);
    table.decide(4);
    CHECK(table.session.outbox().memory().receipt == "note 4");
    CHECK(table.session.outbox().memory().wagers == 8);
    CHECK(*table.enqueue(reportResult(7)) == 5);
}

TEST_CASE("a table that has lost nothing only forgets its receipt")
{
    Table table;
    goOnline(table);
    REQUIRE(table.enqueue(openRound(1, 2)));
    table.decide(1);
    REQUIRE(table.enqueue(reportResult(1)));
    table.disconnect();
    table.connect();
    (void)table.sent();
    table.welcome(1, 2, true);
    CHECK(table.takeEvents() == Strings{"welcome"});
    CHECK(table.sentNumbers() == Numbers{2});
    CHECK(table.session.outbox().memory().receipt.empty());
    CHECK(table.session.outbox().memory().wagers == 2);
}

TEST_CASE("the worked example of docs/link.md")
{
    const std::string page = bytesOf(JACKPOT_LINK_PAGE);
    ToDaemon hello;
    hello.mutable_hello()->set_version(kLinkVersion);
    hello.mutable_hello()->set_software("example 1.0");
    std::string bytes;
    appendFrame(bytes, hello);
    CAPTURE(encodeHex(bytes));
    CHECK(page.find("\n" + encodeHex(bytes) + "\n") != std::string::npos);

    Table table;
    goOnline(table);
    Command command = openRound(7, 0);
    command.mutable_open_round()->add_wagers()->set_seat(1);
    auto& wager = *command.mutable_open_round()->add_wagers();
    wager.set_seat(3);
    wager.set_player_card("P-1");
    REQUIRE(table.session.enqueue(
        command, ClockReading{.bootMs = table.ms, .wallMs = 1'800'000'000'250}, 250));
    bytes.clear();
    table.session.takeOutput(bytes);
    CAPTURE(encodeHex(bytes));
    CHECK(page.find("\n" + encodeHex(bytes) + "\n") != std::string::npos);
    CHECK(table.session.outbox().entries()[0].command.size() + 3 + 2 + 4 == bytes.size());
}

}  // namespace jackpot::linkproto::testing
