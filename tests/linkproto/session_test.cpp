#include <doctest/doctest.h>

#include <random>

#include "linkproto/client/table_session.h"
#include "linkproto/frame.h"
#include "tests/linkproto/fake_book.h"
#include "tests/support/scratch.h"

namespace jackpot::linkproto {
namespace {

using link::v1::Command;
using link::v1::Goodbye;
using link::v1::Rejected;
using link::v1::ToDaemon;
using link::v1::ToTable;
using Strings = std::vector<std::string>;
using Numbers = std::vector<std::uint64_t>;

Command openRound(std::int64_t round, int wagers = 1)
{
    Command command;
    command.mutable_open_round()->set_round(round);
    for (int seat = 1; seat <= wagers; ++seat)
        command.mutable_open_round()->add_wagers()->set_seat(seat);
    return command;
}

Command reportResult(std::int64_t round)
{
    Command command;
    command.mutable_report_result()->set_round(round);
    command.mutable_report_result()->add_board("7D");
    return command;
}

// A session, the daemon it talks to, and the time; what happens is written down.
class Table : public TableEvents {
public:
    explicit Table(Outbox outbox = Outbox::inMemory())
        : session{std::move(outbox), *this, "test", 7}
    {}

    void onWelcome(const link::v1::Welcome&) override { events.emplace_back("welcome"); }
    void onDecision(const link::v1::Decision& decision) override
    {
        decided.push_back(decision.number());
        again += decision.again() ? 1 : 0;
        if (decision.has_refusal()) events.push_back("refused " + decision.refusal().code());
    }
    void onPool(const link::v1::PoolNews&) override { events.emplace_back("pool"); }
    void onSuspension(const link::v1::Suspension& news) override
    {
        events.emplace_back(news.suspended() ? "suspended" : "resumed");
    }
    void onSettlement(const link::v1::Settlement&) override { events.emplace_back("settlement"); }
    void onState(const link::v1::TableState&) override { events.emplace_back("state"); }
    void onUnavailable(std::optional<std::int64_t> voided) override
    {
        events.push_back("unavailable " + (voided ? std::to_string(*voided) : "-"));
    }
    void onGoodbye(const Goodbye& goodbye) override
    {
        events.push_back("goodbye " + Goodbye::Why_Name(goodbye.why()));
    }
    void onFault(TableFault fault, std::string_view) override
    {
        events.push_back("fault " + std::string{nameOf(fault)});
    }

    [[nodiscard]] ClockReading now() const
    {
        return {.bootMs = ms, .wallMs = 1'800'000'000'000 + ms};
    }
    void connect() { session.onConnected(now()); }
    void disconnect() { session.onDisconnected(now()); }
    void say(const ToTable& message) { session.onFrame(message.SerializeAsString(), now()); }
    Result<std::uint64_t> enqueue(Command command) { return session.enqueue(command, now()); }

    // What the table has sent since it was asked last.
    std::vector<ToDaemon> sent()
    {
        session.takeOutput(reader.buffer());
        std::vector<ToDaemon> messages;
        while (const auto frame = reader.next())
            REQUIRE(messages.emplace_back().ParseFromArray(frame->data(),
                                                           static_cast<int>(frame->size())));
        REQUIRE_FALSE(reader.isInsideFrame());
        return messages;
    }
    Numbers sentNumbers()
    {
        Numbers numbers;
        for (const auto& message : sent())
            if (message.has_command()) numbers.push_back(message.command().number());
        return numbers;
    }
    // Lets both talk until neither has anything to say.
    void talk()
    {
        for (auto messages = sent(); !messages.empty(); messages = sent())
            for (const auto& message : messages)
                for (const auto& answer : book.answer(message)) say(answer);
    }
    void welcome(std::uint64_t lastNumber, std::uint64_t wagers = 0, bool restored = false)
    {
        ToTable message;
        message.mutable_welcome()->set_restored(restored);
        message.mutable_welcome()->set_version(1);
        message.mutable_welcome()->set_last_number(lastNumber);
        message.mutable_welcome()->mutable_state()->set_wagers(wagers);
        message.mutable_welcome()->mutable_state()->mutable_pool()->set_open(true);
        say(message);
    }
    void decide(std::uint64_t number, bool refused = false)
    {
        ToTable message;
        auto& decision = *message.mutable_decisions()->add_decisions();
        decision.set_number(number);
        if (refused) decision.mutable_refusal()->set_code("no");
        message.mutable_decisions()->mutable_receipt()->set_size(number);
        message.mutable_decisions()->mutable_receipt()->set_note("note " + std::to_string(number));
        say(message);
    }
    void reject(std::uint64_t number, Rejected::Why why, std::uint64_t expected = 0)
    {
        ToTable message;
        message.mutable_rejected()->set_number(number);
        message.mutable_rejected()->set_why(why);
        message.mutable_rejected()->set_expected(expected);
        say(message);
    }
    void goodbye(Goodbye::Why why)
    {
        ToTable message;
        message.mutable_goodbye()->set_why(why);
        say(message);
    }
    void pool(bool unavailable)
    {
        ToTable message;
        message.mutable_pool()->set_open(!unavailable);
        message.mutable_pool()->set_unavailable(unavailable);
        say(message);
    }
    void heartbeat()
    {
        ToTable message;
        message.mutable_heartbeat()->set_clock_ms(1);
        say(message);
    }
    Strings takeEvents() { return std::exchange(events, {}); }

    std::int64_t ms = 1'000'000;
    FakeBook book;
    Strings events;
    Numbers decided;
    int again = 0;
    FrameReader reader;
    TableSession session;
};

// Online with so many commands decided before.
void goOnline(Table& table, std::uint64_t lastNumber = 0)
{
    table.connect();
    (void)table.sent();
    table.welcome(lastNumber);
    (void)table.takeEvents();
}

}  // namespace

TEST_CASE("a table greets first and is online after the welcome")
{
    Table table;
    CHECK(table.session.isDown());
    table.connect();
    const auto sent = table.sent();
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].hello().version() == 1);
    CHECK(sent[0].hello().software() == "test");
    CHECK(sent[0].hello().receipt().empty());
    CHECK_FALSE(table.session.isOnline());
    CHECK_FALSE(table.session.mayTakeWagers(table.now()));
    table.welcome(0);
    CHECK(table.session.isOnline());
    CHECK(table.session.mayTakeWagers(table.now()));
    CHECK(table.takeEvents() == Strings{"welcome"});
}

TEST_CASE("a new outbox takes no commands before the first welcome and goes on where it says")
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

TEST_CASE("a frame that is no message, another version and another table's certificate are faults")
{
    Table table{Outbox::inMemory("BJ02")};
    table.connect();
    table.session.onFrame("\xFF\xFF\xFF", table.now());
    CHECK(table.session.mustHangUp());
    CHECK(table.takeEvents() == Strings{"fault bad frame"});
    table.disconnect();

    table.connect();
    ToTable message;
    message.mutable_welcome()->set_version(2);
    table.say(message);
    CHECK(table.takeEvents() == Strings{"fault version"});
    table.disconnect();
    CHECK(table.session.nextDeadline() - table.ms >= 5000);

    table.connect();
    table.talk();  // the book is BJ01's
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
        const auto answers = table.book.answer(table.sent().at(0));
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
    for (const auto& message : table.sent()) (void)table.book.answer(message);
    table.disconnect();
    REQUIRE(table.enqueue(reportResult(2)));
    table.connect();
    table.talk();
    CHECK(table.decided == Numbers{1, 2, 3});
    CHECK(table.again == 2);
    CHECK(table.book.repeated() == 2);
    CHECK(table.session.outbox().entries().empty());
    CHECK(table.session.outbox().memory().wagers == 2);
    CHECK(table.book.wagers() == 2);
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
                        for (const auto& answer : table.book.answer(message))
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
        table.talk();  // the book compares the counts in the heartbeat
        REQUIRE(table.book.lastNumber() == wanted);
        REQUIRE(table.decided.size() == wanted);
        REQUIRE(table.session.outbox().entries().empty());
        REQUIRE(table.session.outbox().memory().wagers == table.book.wagers());
        REQUIRE(table.book.heartbeat().as_of() == wanted);
    }
}

TEST_CASE("a daemon that lost decided commands gets none")
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
    SUBCASE("by its rejection")
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

TEST_CASE("a daemon that is ahead of an old outbox is followed")
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

TEST_CASE("out of order: all that is in flight is waited for, then sent again from the oldest")
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

TEST_CASE("a daemon that never has enough of another order is not asked for ever")
{
    Table table;
    goOnline(table);
    REQUIRE(table.enqueue(reportResult(1)));
    for (int i = 0; i < 10; ++i) table.reject(1, Rejected::OUT_OF_ORDER, 1);
    CHECK(table.sentNumbers().size() == 4);
    CHECK(table.session.stoppedBy() == TableFault::OutOfOrder);
    CHECK(table.takeEvents() == Strings{"fault out of order"});
}

TEST_CASE("a rejection whose companions never come ends the connection after 5 s")
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

TEST_CASE("too fast: the same a second later, for ever")
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

TEST_CASE("conflict and malformed: nothing is sent or dropped any more, but heartbeats")
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

TEST_CASE("nothing heard for 5 s: no round is opened, and the table hangs up")
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

TEST_CASE("the first reconnection is immediate, then they are spread over growing times")
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

TEST_CASE("unavailable: the open round whose result is not in is voided once, and none is opened")
{
    Table table;
    goOnline(table);
    REQUIRE(table.enqueue(openRound(5, 2)));
    (void)table.sent();
    SUBCASE("by news") { table.pool(true); }
    SUBCASE("by news, and the opening was decided")
    {
        table.decide(1);
        table.pool(true);
    }
    SUBCASE("by goodbye") { table.goodbye(Goodbye::UNAVAILABLE); }
    SUBCASE("by welcome")
    {
        table.disconnect();
        table.connect();
        table.book.unavailable = true;
        table.talk();
        table.book.unavailable = false;
    }
    table.pool(true);
    CHECK(table.session.isUnavailable());
    CHECK_FALSE(table.session.openRound());
    const auto events = table.takeEvents();
    CHECK(std::count(events.begin(), events.end(), "unavailable 5") == 1);
    CHECK(std::count(events.begin(), events.end(), "unavailable -") == 0);
    CHECK_FALSE(table.enqueue(openRound(6)));
    // On recovery the daemon learns of both.
    table.disconnect();
    table.book = FakeBook{};
    if (table.session.outbox().memory().decided > 0) {
        ToDaemon first;
        *first.mutable_command() = openRound(5, 2);
        first.mutable_command()->set_number(1);
        (void)table.book.answer(first);
    }
    if (table.session.outbox().memory().decided < 2) {
        table.connect();
        table.talk();
        CHECK(table.book.lastNumber() == 2);
        CHECK(table.book.command(2).void_round().round() == 5);
        CHECK(table.book.command(2).void_round().reason() == "malfunction");
        CHECK_FALSE(table.session.isUnavailable());
        CHECK(table.enqueue(openRound(6)));
    }
}

TEST_CASE("unavailable: a round whose result is in, and a table without one, have nothing to void")
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

TEST_CASE("unavailable is told once, also across connections, until the jackpot is back")
{
    Table table;
    goOnline(table);
    table.goodbye(Goodbye::UNAVAILABLE);
    CHECK(table.takeEvents() == Strings{"goodbye UNAVAILABLE", "unavailable -"});
    table.book.unavailable = true;
    table.disconnect();
    table.connect();
    table.talk();
    CHECK(table.takeEvents() == Strings{"welcome"});
    CHECK_FALSE(table.session.canOpenRound(table.now()));
    table.book.unavailable = false;
    table.disconnect();
    table.connect();
    table.talk();
    CHECK(table.session.mayTakeWagers(table.now()));
    table.pool(true);
    CHECK(table.takeEvents() == Strings{"welcome", "pool", "unavailable -"});
}

TEST_CASE("unavailable: a refused opening is not voided, one whose result was refused is")
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
    FakeBook book;
    {
        Table table{started()};
        table.connect();
        table.talk();
        REQUIRE(table.enqueue(openRound(5, 2)));
        table.talk();
        table.disconnect();
        CHECK(table.session.openRound() == 5);
        CHECK(table.session.outbox().entries().empty());
        book = table.book;
    }
    {
        Table table{started()};
        CHECK(table.session.openRound() == 5);
        table.book = book;
        table.connect();
        CHECK(table.sent().at(0).hello().receipt() == "fake\n1\n");
        table.book.unavailable = true;
        ToDaemon hello;
        hello.mutable_hello();
        for (const auto& answer : table.book.answer(hello)) table.say(answer);
        CHECK(table.takeEvents() == Strings{"welcome", "unavailable 5"});
    }
    Table lost;  // a new controller without the outbox
    lost.book = book;
    lost.connect();
    lost.talk();
    CHECK(lost.session.openRound() == 5);
    CHECK(lost.session.outbox().memory().wagers == 2);
}

// docs/link.md and docs/operations.md: what a table does while the daemon is down.
TEST_CASE("a lost link or any goodbye voids nothing, only UNAVAILABLE returns the wagers")
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

    // The journal can't be written: now the round without a result is void.
    REQUIRE(table.enqueue(openRound(6, 2)));
    table.decide(3);
    table.goodbye(Goodbye::UNAVAILABLE);
    CHECK(table.takeEvents() == Strings{"welcome", "goodbye UNAVAILABLE", "unavailable 6"});
    CHECK_FALSE(table.session.openRound());
    REQUIRE(table.session.outbox().entries().size() == 1);
    Command voided;
    REQUIRE(voided.ParseFromString(table.session.outbox().entries().front().command));
    CHECK(voided.void_round().round() == 6);
}

TEST_CASE("the newest receipt is kept, also that of a settlement, and shown in the next hello")
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

TEST_CASE("news is passed on and kept")
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

TEST_CASE("decisions come in order; others end the connection, old ones are ignored")
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

TEST_CASE("what the daemon would call malformed is refused before it is stored")
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
    command.mutable_suspend()->set_reason(std::string(257, 'x'));
    CHECK(refuses(command));
    for (const std::string_view text :
         {"\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF", "\xE2\x82", "a\x80"}) {
        command.mutable_suspend()->set_reason(std::string{text});
        CHECK(refuses(command));
    }
    for (const std::string_view text : {"", "Caf\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x83\x8F"}) {
        command.mutable_suspend()->set_reason(std::string{text});
        CHECK(table.enqueue(command));
    }
}

TEST_CASE("an outbox that is half full opens no round, a full one takes nothing")
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
    commands[1].mutable_suspend()->set_reason("\xFF");
    CHECK_FALSE(table.session.enqueue(commands, table.now()));
    CHECK(table.session.outbox().entries().size() == 2);
    CHECK(table.session.openRound() == std::nullopt);
}

TEST_CASE("after an accepted restore a table numbers anew what is in its outbox")
{
    const ScratchDirectory scratch;
    const auto file = scratch / "outbox";
    Table table{Outbox::open(file, "BJ01", "boot-a").value()};
    table.connect();
    CHECK(table.sent().at(0).hello().decided() == 0);
    const auto welcome = [&](std::uint64_t known, bool restored) {
        ToTable message;
        message.mutable_welcome()->set_version(1);
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
    const std::string page = contentsOf(JACKPOT_LINK_PAGE);
    ToDaemon hello;
    hello.mutable_hello()->set_version(1);
    hello.mutable_hello()->set_software("example 1.0");
    std::string bytes;
    appendFrame(bytes, hello);
    CAPTURE(hexOf(bytes));
    CHECK(page.find("\n" + hexOf(bytes) + "\n") != std::string::npos);

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
    CAPTURE(hexOf(bytes));
    CHECK(page.find("\n" + hexOf(bytes) + "\n") != std::string::npos);
    CHECK(table.session.outbox().entries()[0].command.size() + 3 + 2 + 4 == bytes.size());
}

}  // namespace jackpot::linkproto
