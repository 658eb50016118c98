#include <doctest/doctest.h>

#include "tests/linkproto/session_fixture.h"
#include "tests/support/scratch.h"

namespace jackpot::linkproto::testing {
namespace {

// What a controller sends once a supervisor has approved it (BJ 16.18).
Command suspendForMalfunction()
{
    Command command;
    command.mutable_suspend()->set_ground(link::v2::Suspend::MALFUNCTION);
    command.mutable_suspend()->set_by("sue");
    return command;
}

}  // namespace

TEST_CASE("unavailable: the round without a result is named once, and none is opened")
{
    Table table;
    goOnline(table);
    REQUIRE(table.enqueue(openRound(5, 2)));
    (void)table.sent();
    SUBCASE("by news") { table.pool(true); }
    SUBCASE("by news, and the round's opening was decided")
    {
        table.decide(1);
        table.pool(true);
    }
    SUBCASE("by goodbye") { table.goodbye(Goodbye::UNAVAILABLE); }
    SUBCASE("by welcome")
    {
        table.disconnect();
        table.connect();
        table.logic.unavailable = true;
        table.talk();
        table.logic.unavailable = false;
    }
    table.pool(true);
    CHECK(table.session.isUnavailable());
    CHECK(table.session.openRound() == 5);
    REQUIRE(table.enqueue(suspendForMalfunction()));
    CHECK_FALSE(table.session.openRound());
    const auto events = table.takeEvents();
    CHECK(std::count(events.begin(), events.end(), "unavailable 5") == 1);
    CHECK(std::count(events.begin(), events.end(), "unavailable -") == 0);
    CHECK_FALSE(table.enqueue(openRound(6)));
    // On recovery the daemon learns of both.
    table.disconnect();
    table.logic = FakeDaemonLogic{};
    if (table.session.outbox().memory().decided > 0) {
        ToDaemon first;
        *first.mutable_command() = openRound(5, 2);
        first.mutable_command()->set_number(1);
        (void)table.logic.answer(first);
    }
    if (table.session.outbox().memory().decided < 2) {
        table.connect();
        table.talk();
        CHECK(table.logic.lastNumber() == 2);
        CHECK(table.logic.command(2).suspend().by() == "sue");
        CHECK_FALSE(table.session.isUnavailable());
        CHECK(table.enqueue(openRound(6)));
    }
}

TEST_CASE("unavailable: a round whose result is in is not named")
{
    Table table;
    goOnline(table);
    table.pool(true);
    CHECK(table.takeEvents() == Strings{"pool", "unavailable -"});
    table.pool(false);
    CHECK(table.session.mayTakeWagers(table.now()));
    REQUIRE(table.enqueue(openRound(5, 2)));
    REQUIRE(table.enqueue(reportResult(5)));
    (void)table.takeEvents();
    table.goodbye(Goodbye::UNAVAILABLE);
    CHECK(table.takeEvents() == Strings{"goodbye UNAVAILABLE", "unavailable -"});
    CHECK(table.session.outbox().entries().size() == 2);
}

TEST_CASE("unavailable is reported once, also across connections, until the jackpot is back")
{
    Table table;
    goOnline(table);
    table.goodbye(Goodbye::UNAVAILABLE);
    CHECK(table.takeEvents() == Strings{"goodbye UNAVAILABLE", "unavailable -"});
    table.logic.unavailable = true;
    table.disconnect();
    table.connect();
    table.talk();
    CHECK(table.takeEvents() == Strings{"welcome"});
    CHECK_FALSE(table.session.canOpenRound(table.now()));
    table.logic.unavailable = false;
    table.disconnect();
    table.connect();
    table.talk();
    CHECK(table.session.mayTakeWagers(table.now()));
    table.pool(true);
    CHECK(table.takeEvents() == Strings{"welcome", "pool", "unavailable -"});
}

TEST_CASE("unavailable: a refused opening is not named, one whose result was refused is")
{
    Table table;
    goOnline(table);
    REQUIRE(table.enqueue(openRound(5)));
    table.decide(1, true);
    CHECK_FALSE(table.session.openRound());
    REQUIRE(table.enqueue(openRound(6)));
    REQUIRE(table.enqueue(reportResult(6)));
    CHECK_FALSE(table.session.openRound());
    table.decide(2);
    table.decide(3, true);
    CHECK(table.session.openRound() == 6);
}

TEST_CASE("a lost link voids nothing, and a restarted controller knows its open round")
{
    const ScratchDirectory scratch;
    const auto started = [&] {
        auto outbox = Outbox::open(scratch / "outbox", "BJ01", "boot");
        REQUIRE(outbox);
        return *std::move(outbox);
    };
    FakeDaemonLogic logic;
    {
        Table table{started()};
        table.connect();
        table.talk();
        REQUIRE(table.enqueue(openRound(5, 2)));
        table.talk();
        table.disconnect();
        CHECK(table.session.openRound() == 5);
        CHECK(table.session.outbox().entries().empty());
        logic = table.logic;
    }
    {
        Table table{started()};
        CHECK(table.session.openRound() == 5);
        table.logic = logic;
        table.connect();
        CHECK(table.sent().at(0).hello().receipt() == "fake\n1\n");
        table.logic.unavailable = true;
        ToDaemon hello;
        hello.mutable_hello();
        for (const auto& answer : table.logic.answer(hello)) table.say(answer);
        CHECK(table.takeEvents() == Strings{"welcome", "unavailable 5"});
    }
    Table lost;  // a new controller without the outbox
    lost.logic = logic;
    lost.connect();
    lost.talk();
    CHECK(lost.session.openRound() == 5);
    CHECK(lost.session.outbox().memory().wagers == 2);
}

// docs/link.md and docs/operations.md: what a table does while the daemon is down.
TEST_CASE("a lost link or any goodbye voids nothing, only UNAVAILABLE asks for a supervisor")
{
    Table table;
    goOnline(table);
    REQUIRE(table.enqueue(openRound(5, 2)));
    table.decide(1);
    SUBCASE("the link is lost") {}
    SUBCASE("the daemon is silent")
    {
        table.ms += kSilenceMs;
        table.session.onTick(table.now());
        REQUIRE(table.session.mustHangUp());
    }
    SUBCASE("the daemon shuts down") { table.goodbye(Goodbye::SHUTDOWN); }
    SUBCASE("the daemon is locked") { table.goodbye(Goodbye::LOCKED); }
    table.disconnect();

    // The round goes on without a link; the next one takes no wagers.
    CHECK(table.session.openRound() == 5);
    CHECK(table.session.outbox().entries().empty());
    CHECK_FALSE(table.session.mayTakeWagers(table.now()));
    CHECK_FALSE(table.enqueue(openRound(6)));
    REQUIRE(table.enqueue(reportResult(5)));
    for (const auto& event : table.takeEvents()) CHECK(event.find("unavailable") != 0);

    // The result, and nothing else, is sent when the link is back.
    table.connect();
    (void)table.sent();
    table.welcome(1);
    const auto sent = table.sent();
    REQUIRE(sent.size() == 1);
    CHECK(sent.front().command().number() == 2);
    CHECK(sent.front().command().report_result().round() == 5);
    table.decide(2);

    // The journal can't be written: the round without a result is named, and nobody voids it alone.
    REQUIRE(table.enqueue(openRound(6, 2)));
    table.decide(3);
    table.goodbye(Goodbye::UNAVAILABLE);
    CHECK(table.takeEvents() == Strings{"welcome", "goodbye UNAVAILABLE", "unavailable 6"});
    CHECK(table.session.openRound() == 6);
    CHECK(table.session.outbox().entries().empty());
    REQUIRE(table.enqueue(suspendForMalfunction()));
    CHECK_FALSE(table.session.openRound());
}

}  // namespace jackpot::linkproto::testing
