#include <doctest/doctest.h>

#include <random>

#include "tests/linkproto/session_fixture.h"
#include "tests/support/scratch.h"

namespace jackpot::linkproto::testing {

TEST_CASE("a table sends Hello first and is online after the Welcome")
{
    Table table;
    CHECK(table.session.isDown());
    table.connect();
    const auto sent = table.sent();
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].hello().version() == kLinkVersion);
    CHECK(sent[0].hello().software() == "test");
    CHECK(sent[0].hello().receipt().empty());
    CHECK_FALSE(table.session.isOnline());
    CHECK_FALSE(table.session.mayTakeWagers(table.now()));
    table.welcome(0);
    CHECK(table.session.isOnline());
    CHECK(table.session.mayTakeWagers(table.now()));
    CHECK(table.takeEvents() == Strings{"welcome"});
}

TEST_CASE("a new outbox accepts no commands before the first Welcome and continues with its number")
{
    Table table;
    CHECK_FALSE(table.enqueue(reportResult(1)));
    table.connect();
    CHECK_FALSE(table.enqueue(reportResult(1)));
    table.welcome(41, 7);
    CHECK(*table.enqueue(openRound(9, 3)) == 42);
    CHECK(table.session.outbox().memory().wagers == 7);
    table.decide(42);
    CHECK(table.session.outbox().memory().wagers == 10);
}

TEST_CASE("anything but welcome or goodbye before the welcome, and a second welcome, are faults")
{
    for (int what = 0; what < 4; ++what) {
        Table table;
        table.connect();
        if (what == 0) table.decide(1);
        if (what == 1) table.heartbeat();
        if (what == 2) table.pool(false);
        if (what == 3) table.say(ToTable{});
        CHECK(table.session.mustHangUp());
        CHECK(table.takeEvents() == Strings{"fault bad frame"});
    }
    Table table;
    goOnline(table);
    table.welcome(0);
    CHECK(table.session.mustHangUp());
    CHECK(table.takeEvents() == Strings{"fault bad frame"});
}

TEST_CASE("a malformed message, another version and another table's certificate are faults")
{
    Table table{Outbox::inMemory("BJ02")};
    table.connect();
    table.session.onFrame("\xFF\xFF\xFF", table.now());
    CHECK(table.session.mustHangUp());
    CHECK(table.takeEvents() == Strings{"fault bad frame"});
    table.disconnect();

    table.connect();
    ToTable message;
    message.mutable_welcome()->set_version(kLinkVersion + 1);
    table.say(message);
    CHECK(table.takeEvents() == Strings{"fault version"});
    table.disconnect();
    CHECK(table.session.nextDeadline() - table.ms >= 5000);

    table.connect();
    table.talk();  // the fake daemon expects BJ01
    CHECK(table.takeEvents() == Strings{"fault wrong table"});
    CHECK(table.session.outbox().memory().isNew);
}

TEST_CASE("at most 32 commands are in flight")
{
    Table table;
    goOnline(table);
    for (int i = 1; i <= 40; ++i) REQUIRE(table.enqueue(reportResult(i)));
    CHECK(table.sentNumbers().size() == 32);
    CHECK(table.session.inFlight() == 32);
    table.decide(1);
    CHECK(table.sentNumbers() == Numbers{33});
    ToTable message;
    for (std::uint64_t n = 2; n <= 20; ++n)
        message.mutable_decisions()->add_decisions()->set_number(n);
    table.say(message);
    CHECK(table.sentNumbers() == Numbers{34, 35, 36, 37, 38, 39, 40});
    CHECK(table.decided.size() == 20);
}

TEST_CASE("commands are numbered in order, carry the clock, and their age at sending")
{
    Table table;
    goOnline(table);
    Command pressed;
    pressed.mutable_confirm_jackpot()->set_round(3);
    REQUIRE(table.session.enqueue(pressed, table.now(), 250));
    const std::int64_t happened = table.now().wallMs - 250;
    auto sent = table.sent();
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].command().number() == 1);
    CHECK(sent[0].command().clock_ms() == happened);
    CHECK(sent[0].command().age_ms() == 250);
    table.disconnect();
    table.ms += 60'000;
    goOnline(table);
    table.disconnect();
    table.connect();
    table.welcome(0);
    sent = table.sent();
    REQUIRE(sent.size() == 2);
    CHECK(sent[1].command().clock_ms() == happened);
    CHECK(sent[1].command().age_ms() == 60'250);
}

TEST_CASE("the age of a command of an earlier boot goes by the wall clock and is never negative")
{
    const ScratchDirectory scratch;
    const auto started = [&](std::string_view boot) {
        auto outbox = Outbox::open(scratch / "outbox", "BJ01", boot);
        REQUIRE(outbox);
        return *std::move(outbox);
    };
    {
        Table table{started("a")};
        table.connect();
        table.talk();
        REQUIRE(table.enqueue(reportResult(1)));
    }
    const auto ageAt = [&](std::string_view boot, std::int64_t ms, std::int64_t wallMs) {
        Table table{started(boot)};
        const ClockReading now{.bootMs = ms, .wallMs = wallMs};
        table.session.onConnected(now);
        const auto answers = table.logic.answer(table.sent().at(0));
        table.session.onFrame(answers.at(0).SerializeAsString(), now);
        return table.sent().at(0).command().age_ms();
    };
    const std::int64_t wallMs = 1'800'000'000'000 + 1'000'000;
    CHECK(ageAt("a", 1'000'700, 5) == 700);
    CHECK(ageAt("b", 17, wallMs + 900) == 900);
    CHECK(ageAt("b", 17, wallMs - 900) == 0);
}

TEST_CASE("after a reconnect everything undecided is sent again in order, and answered again")
{
    Table table;
    table.connect();
    table.talk();
    REQUIRE(table.enqueue(openRound(1, 2)));
    REQUIRE(table.enqueue(reportResult(1)));
    // The daemon decides, and its answers are lost.
    for (const auto& message : table.sent()) (void)table.logic.answer(message);
    table.disconnect();
    REQUIRE(table.enqueue(reportResult(2)));
    table.connect();
    table.talk();
    CHECK(table.decided == Numbers{1, 2, 3});
    CHECK(table.again == 2);
    CHECK(table.logic.repeated() == 2);
    CHECK(table.session.outbox().entries().empty());
    CHECK(table.session.outbox().memory().wagers == 2);
    CHECK(table.logic.wagers() == 2);
}

TEST_CASE("however often the connection breaks, each command is decided once")
{
    const std::uint64_t seed = 20261116;
    MESSAGE("seed ", seed);
    std::mt19937_64 random{seed};
    for (int run = 0; run < 200; ++run) {
        Table table;
        table.connect();
        table.talk();
        std::uint64_t wanted = 0;
        std::int64_t round = 0;
        for (int step = 0; step < 60; ++step) {
            table.ms += static_cast<std::int64_t>(random() % 300);
            switch (random() % 6) {
                case 0:
                case 1:
                    if (table.enqueue(openRound(++round, static_cast<int>(random() % 4)))) ++wanted;
                    break;
                case 2:
                    REQUIRE(table.enqueue(reportResult(round)));
                    ++wanted;
                    break;
                case 3:
                    // The first so many frames reach the daemon, and the first answers the table.
                    if (table.session.isDown()) break;
                    for (const auto& message : table.sent()) {
                        if (random() % 8 == 0) {
                            table.disconnect();
                            break;
                        }
                        for (const auto& answer : table.logic.answer(message))
                            if (!table.session.isDown() && random() % 8 != 0)
                                table.say(answer);
                            else if (!table.session.isDown())
                                table.disconnect();
                    }
                    break;
                case 4:
                    if (!table.session.isDown()) table.disconnect();
                    break;
                default:
                    if (table.session.isDown()) table.connect();
            }
        }
        if (!table.session.isDown()) table.disconnect();
        table.connect();
        table.talk();
        table.ms += 1000;
        table.session.onTick(table.now());
        table.talk();  // the fake daemon compares the counts in the heartbeat
        REQUIRE(table.logic.lastNumber() == wanted);
        REQUIRE(table.decided.size() == wanted);
        REQUIRE(table.session.outbox().entries().empty());
        REQUIRE(table.session.outbox().memory().wagers == table.logic.wagers());
        REQUIRE(table.logic.heartbeat().as_of() == wanted);
    }
}

TEST_CASE("a daemon that lost decided commands is sent no command")
{
    Table table;
    goOnline(table);
    for (int i = 1; i <= 3; ++i) REQUIRE(table.enqueue(reportResult(i)));
    table.decide(1);
    table.decide(2);
    (void)table.sent();
    const auto reconnect = [&](std::uint64_t lastNumber) {
        table.disconnect();
        table.connect();
        (void)table.sent();
        table.welcome(lastNumber);
    };
    SUBCASE("with something in the outbox")
    {
        reconnect(1);
        CHECK(table.takeEvents() == Strings{"welcome", "fault lost commands"});
        CHECK(table.sentNumbers().empty());
        CHECK_FALSE(table.session.mustHangUp());
        CHECK_FALSE(table.session.mayTakeWagers(table.now()));
        CHECK_FALSE(table.enqueue(openRound(9)));
        REQUIRE(table.enqueue(reportResult(9)));
        CHECK(table.sentNumbers().empty());
        reconnect(2);
        CHECK(table.takeEvents() == Strings{"welcome"});
        CHECK(table.sentNumbers() == Numbers{3, 4});
    }
    SUBCASE("with an empty outbox")
    {
        table.decide(3);
        reconnect(2);
        CHECK(table.takeEvents() == Strings{"welcome", "fault lost commands"});
        reconnect(3);
        CHECK(table.takeEvents() == Strings{"welcome"});
        CHECK(*table.enqueue(reportResult(9)) == 4);
    }
    SUBCASE("found by its rejection")
    {
        table.reject(3, Rejected::OUT_OF_ORDER, 2);
        CHECK(table.takeEvents() == Strings{"fault lost commands"});
        table.ms += 900;
        table.heartbeat();
        table.ms += 900;
        table.session.onTick(table.now());
        CHECK(table.sentNumbers().empty());
        CHECK(table.session.nextDeadline() > table.ms);
    }
}

TEST_CASE("an old outbox continues with the numbers of a daemon that is ahead")
{
    Table table;
    goOnline(table);
    REQUIRE(table.enqueue(openRound(1, 2)));
    table.disconnect();
    table.connect();
    (void)table.sent();
    table.welcome(5, 9);
    CHECK(table.sentNumbers() == Numbers{1});
    table.decide(1);
    CHECK(table.session.outbox().memory().wagers == 9);
    CHECK(table.session.outbox().memory().counted == 5);
    CHECK(*table.enqueue(openRound(7, 3)) == 6);
    table.decide(6);
    CHECK(table.session.outbox().memory().wagers == 12);
}

TEST_CASE(
    "out of order: the table waits for all commands in flight, then sends them again from the "
    "oldest")
{
    Table table;
    goOnline(table);
    for (int i = 1; i <= 4; ++i) REQUIRE(table.enqueue(reportResult(i)));
    (void)table.sent();
    table.decide(1);
    table.reject(3, Rejected::OUT_OF_ORDER, 2);
    table.reject(4, Rejected::OUT_OF_ORDER, 2);
    CHECK(table.sentNumbers().empty());
    table.reject(2, Rejected::OUT_OF_ORDER, 2);
    CHECK(table.sentNumbers() == Numbers{2, 3, 4});
    table.decide(2);
    table.decide(3);
    table.decide(4);
    CHECK(table.session.outbox().entries().empty());
    CHECK(table.takeEvents().empty());
}

TEST_CASE("after some tries the table stops for a daemon that keeps rejecting the order")
{
    Table table;
    goOnline(table);
    REQUIRE(table.enqueue(reportResult(1)));
    for (int i = 0; i < 10; ++i) table.reject(1, Rejected::OUT_OF_ORDER, 1);
    CHECK(table.sentNumbers().size() == 4);
    CHECK(table.session.stoppedBy() == TableFault::OutOfOrder);
    CHECK(table.takeEvents() == Strings{"fault out of order"});
}

TEST_CASE(
    "a rejection ends the connection if the other commands in flight are not answered within 5 s")
{
    Table table;
    goOnline(table);
    REQUIRE(table.enqueue(reportResult(1)));
    REQUIRE(table.enqueue(reportResult(2)));
    table.reject(1, Rejected::TOO_FAST);
    for (int i = 0; i < 5; ++i) {
        CHECK_FALSE(table.session.mustHangUp());
        table.ms += 1000;
        table.heartbeat();
        table.session.onTick(table.now());
    }
    CHECK(table.session.mustHangUp());
}

TEST_CASE("too fast: the same command is sent again after a second, without limit")
{
    Table table;
    goOnline(table);
    REQUIRE(table.enqueue(reportResult(1)));
    REQUIRE(table.enqueue(reportResult(2)));
    CHECK(table.sentNumbers() == Numbers{1, 2});
    for (int i = 0; i < 10; ++i) {
        table.reject(1, Rejected::TOO_FAST);
        table.reject(2, Rejected::OUT_OF_ORDER, 1);
        CHECK(table.sentNumbers().empty());
        CHECK(table.session.nextDeadline() <= table.ms + 1000);
        table.ms += 999;
        table.heartbeat();
        table.session.onTick(table.now());
        CHECK(table.sentNumbers().empty());
        table.ms += 1;
        table.session.onTick(table.now());
        CHECK(table.sentNumbers() == Numbers{1, 2});
    }
    CHECK_FALSE(table.session.stoppedBy());
}

TEST_CASE("conflict and malformed: the table then sends only heartbeats, and drops no command")
{
    for (const auto why : {Rejected::CONFLICT, Rejected::MALFORMED, Rejected::WHY_UNSPECIFIED}) {
        Table table;
        goOnline(table);
        REQUIRE(table.enqueue(reportResult(1)));
        REQUIRE(table.enqueue(reportResult(2)));
        (void)table.sent();
        table.reject(1, why);
        CHECK(table.session.stoppedBy() ==
              (why == Rejected::CONFLICT ? TableFault::Conflict : TableFault::Malformed));
        CHECK(table.takeEvents().size() == 1);
        CHECK_FALSE(table.session.mustHangUp());
        CHECK_FALSE(table.enqueue(openRound(3)));
        REQUIRE(table.enqueue(reportResult(3)));
        CHECK(table.session.outbox().entries().size() == 3);
        CHECK(table.sent().empty());
        table.ms += 1000;
        table.session.onTick(table.now());
        CHECK(table.sent().at(0).has_heartbeat());
        table.disconnect();
        goOnline(table);
        CHECK(table.sentNumbers().empty());
    }
}

TEST_CASE("a heartbeat after a second of silence, with the count as of the last decision")
{
    Table table;
    goOnline(table, 10);
    REQUIRE(table.enqueue(openRound(1, 3)));
    (void)table.sent();
    table.decide(11);
    CHECK(table.session.nextDeadline() == table.ms + 1000);
    table.ms += 999;
    table.session.onTick(table.now());
    CHECK(table.sent().empty());
    table.ms += 1;
    table.session.onTick(table.now());
    auto sent = table.sent();
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].heartbeat().wagers() == 3);
    CHECK(sent[0].heartbeat().as_of() == 11);
    CHECK(sent[0].heartbeat().clock_ms() == table.now().wallMs);
    // A command is as good as a heartbeat, and a heartbeat is not answered by one.
    table.ms += 600;
    REQUIRE(table.enqueue(reportResult(1)));
    (void)table.sent();
    table.heartbeat();
    CHECK(table.sent().empty());
    table.ms += 600;
    table.session.onTick(table.now());
    CHECK(table.sent().empty());
    table.ms += 400;
    table.session.onTick(table.now());
    CHECK(table.sent().size() == 1);
}

TEST_CASE("refused wagers are not counted")
{
    Table table;
    goOnline(table);
    REQUIRE(table.enqueue(openRound(1, 3)));
    REQUIRE(table.enqueue(openRound(2, 2)));
    table.decide(1, true);
    table.decide(2);
    CHECK(table.session.outbox().memory().wagers == 2);
    CHECK(table.takeEvents() == Strings{"refused no"});
}

TEST_CASE("nothing received for 5 s: no round is opened, and the table disconnects")
{
    Table table;
    goOnline(table);
    REQUIRE(table.enqueue(openRound(1)));
    table.decide(1);
    table.ms += 4999;
    CHECK(table.session.mayTakeWagers(table.now()));
    table.ms += 1;
    CHECK_FALSE(table.session.mayTakeWagers(table.now()));
    CHECK_FALSE(table.enqueue(openRound(2)));
    // What belongs to the open round goes on.
    CHECK(table.enqueue(reportResult(1)));
    CHECK(table.session.nextDeadline() <= table.ms);
    table.session.onTick(table.now());
    CHECK(table.session.mustHangUp());
    table.disconnect();
    CHECK_FALSE(table.enqueue(openRound(2)));
    CHECK(table.takeEvents().empty());

    Table silent;
    silent.connect();
    silent.ms += 5000;
    silent.session.onTick(silent.now());
    CHECK(silent.session.mustHangUp());
}

TEST_CASE("the first reconnection is immediate, later ones wait for growing random times")
{
    Table table;
    CHECK(table.session.nextDeadline() <= table.ms);
    goOnline(table);
    table.ms += 5000;
    table.heartbeat();
    table.disconnect();
    CHECK(table.session.nextDeadline() == table.ms);
    for (std::int64_t delay = 100; delay < 50'000; delay *= 2) {
        table.disconnect();  // the attempt failed
        const std::int64_t wait = table.session.nextDeadline() - table.ms;
        CHECK(wait >= std::min<std::int64_t>(delay, 10'000) / 2);
        CHECK(wait <= std::min<std::int64_t>(delay, 10'000));
        table.ms += wait;
    }
    // A connection that breaks at once is no reason to hurry.
    goOnline(table);
    table.disconnect();
    CHECK(table.session.nextDeadline() - table.ms >= 5000);
    goOnline(table);
    REQUIRE(table.enqueue(reportResult(1)));
    table.decide(1);
    table.disconnect();
    CHECK(table.session.nextDeadline() == table.ms);
    goOnline(table, 1);
    table.ms += 5000;
    table.disconnect();
    CHECK(table.session.nextDeadline() == table.ms);
}

TEST_CASE("after a goodbye no reconnection is immediate, and some wait for people")
{
    for (const auto why : {Goodbye::SHUTDOWN, Goodbye::BUSY, Goodbye::SILENT, Goodbye::VERSION,
                           Goodbye::NOT_A_TABLE, Goodbye::REPLACED, Goodbye::LOCKED}) {
        Table table;
        goOnline(table);
        table.ms += 5000;
        table.goodbye(why);
        CHECK(table.session.mustHangUp());
        CHECK(table.takeEvents() == Strings{"goodbye " + Goodbye::Why_Name(why)});
        table.disconnect();
        const bool isSlow = why == Goodbye::VERSION || why == Goodbye::NOT_A_TABLE ||
                            why == Goodbye::REPLACED || why == Goodbye::LOCKED;
        CHECK(table.session.nextDeadline() - table.ms >= (isSlow ? 5000 : 50));
        CHECK(table.session.nextDeadline() - table.ms <= (isSlow ? 10'000 : 100));
    }
}

}  // namespace jackpot::linkproto::testing
