#include "linkproto/client/table_link.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "tests/linkproto/fake_daemon.h"
#include "tests/support/authority.h"
#include "tests/support/eventually.h"
#include "tests/support/scratch.h"

namespace jackpot::link {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using linkproto::FakeDaemon;
using linkproto::FakeDaemonLogic;

struct LinkFixture {
    ScratchDirectory scratch;
    Authority authority{scratch.path(), "site"};
    net::TlsFiles files = authority.table("BJ01");
    std::optional<FakeDaemon> daemon{std::in_place, authority.daemon()};

    [[nodiscard]] Options options() const
    {
        return {.host = "localhost",
                .port = daemon->port(),
                .table = "BJ01",
                .certificate = files.certificate,
                .key = files.key,
                .ca = files.ca,
                .outbox = scratch / "outbox"};
    }
    [[nodiscard]] std::unique_ptr<TableLink> open(Callbacks callbacks = {}) const
    {
        auto link = TableLink::open(options(), std::move(callbacks));
        REQUIRE_MESSAGE(link, (link ? "" : link.error().message));
        return *std::move(link);
    }
};

Command round(std::int64_t number)
{
    return OpenRound{.round = number, .wagers = {{.seat = 3, .playerCard = "P-1"}, {.seat = 5}}};
}

Command result(std::int64_t number)
{
    return ReportResult{
        .round = number, .board = {"7D"}, .hands = {{.seat = 3, .cards = {"7D", "7S"}}}};
}

}  // namespace

TEST_CASE("a table connects, sends commands and receives their decisions")
{
    LinkFixture floor;
    std::atomic<int> online = 0;
    std::atomic<int> decided = 0;
    const auto link = floor.open({.onOnline =
                                      [&](const TableState& state) {
                                          CHECK(state.table == "BJ01");
                                          ++online;
                                      },
                                  .onDecision = [&](const Decision&) { ++decided; }});
    REQUIRE(link->waitOnline(20s));
    CHECK(link->status().mayTakeWagers);
    const auto first = link->send(round(1));
    REQUIRE(first);
    CHECK(*first == 1);
    const auto decision = link->wait(*first, 20s);
    REQUIRE(decision);
    CHECK(decision->number == 1);
    CHECK(decision->record == 101);
    CHECK_FALSE(decision->refusal);
    CHECK(link->status().displayedCents == 1'000'001);
    CHECK(link->status().openRound == 1);

    const auto second = link->send({result(1), ConfirmJackpot{.round = 1}});
    REQUIRE(second);
    REQUIRE(link->wait(*second + 1, 20s));
    CHECK(link->status().undecided == 0);
    CHECK(link->wait(1, 0ms));
    CHECK_FALSE(link->wait(77, 0ms));
    CHECK(eventually([&] { return online == 1 && decided == 3; }));
    floor.daemon->withLogic([](const FakeDaemonLogic& logic) {
        CHECK(logic.command(1).open_round().wagers(0).player_card() == "P-1");
        CHECK(logic.command(2).report_result().hands(0).cards(1) == "7S");
        CHECK(logic.command(3).confirm_jackpot().round() == 1);
    });
    CHECK(floor.daemon->fault().empty());
}

TEST_CASE("every kind of command arrives as it was given")
{
    LinkFixture floor;
    const auto link = floor.open();
    REQUIRE(link->waitOnline(20s));
    const auto first = link->send(
        {CorrectResult{.result = {.round = 1, .board = {"AS"}, .hands = {}}, .by = "sue"},
         VoidRound{.round = 2,
                   .ground = VoidRoundGround::MissingOrForeignCard,
                   .by = "tom",
                   .reason = "misdeal"},
         VoidWager{.round = 3,
                   .seat = 4,
                   .ground = VoidWagerGround::LossLimit,
                   .by = "uma",
                   .reason = "late"},
         Suspend{.ground = SuspensionGround::Tournament, .by = "vic", .reason = "lamp"},
         Resume{.by = "wim", .reason = "new lamp"}, CloseRound{.round = 5}});
    REQUIRE(first);
    REQUIRE(link->wait(*first + 5, 20s));
    floor.daemon->withLogic([](const FakeDaemonLogic& logic) {
        CHECK(logic.command(1).correct_result().by() == "sue");
        CHECK(logic.command(1).correct_result().result().board(0) == "AS");
        CHECK(logic.command(2).void_round().reason() == "misdeal");
        CHECK(logic.command(2).void_round().by() == "tom");
        CHECK(logic.command(2).void_round().ground() == v2::VoidRound::MISSING_OR_FOREIGN_CARD);
        CHECK(logic.command(3).void_wager().seat() == 4);
        CHECK(logic.command(3).void_wager().ground() == v2::VoidWager::LOSS_LIMIT);
        CHECK(logic.command(4).suspend().ground() == v2::Suspend::TOURNAMENT);
        CHECK(logic.command(4).suspend().reason() == "lamp");
        CHECK(logic.command(5).resume().by() == "wim");
        CHECK(logic.command(6).close_round().round() == 5);
    });
    // A void without a ground is not stored.
    CHECK_FALSE(link->send(VoidRound{.round = 6, .by = "tom"}));
}

TEST_CASE("lost answers are sent again, and nothing counts twice")
{
    LinkFixture floor;
    const auto link = floor.open();
    REQUIRE(link->waitOnline(20s));
    for (std::int64_t number = 1; number <= 10; ++number) {
        floor.daemon->loseAnswers(1);
        std::uint64_t sent = 0;
        REQUIRE(eventually([&] {
            const auto stored = link->send(round(number));
            if (stored) sent = *stored;
            return static_cast<bool>(stored);
        }));
        const auto decision = link->wait(sent, 20s);
        REQUIRE(decision);
        CHECK(decision->again);
    }
    floor.daemon->withLogic([](const FakeDaemonLogic& logic) {
        CHECK(logic.lastNumber() == 10);
        CHECK(logic.wagers() == 20);
        CHECK(logic.hellos().back().receipt() == "fake\n9\n");
    });
    // The count in its heartbeat is right too: the fake daemon compares.
    CHECK(eventually([&] {
        return floor.daemon->withLogic([](auto& logic) { return logic.heartbeat().as_of(); }) == 10;
    }));
    CHECK(floor.daemon->fault().empty());
}

TEST_CASE("without a link the open round continues and no round is opened; a restart loses nothing")
{
    LinkFixture floor;
    {
        const auto link = floor.open();
        REQUIRE(link->waitOnline(20s));
        REQUIRE(link->wait(*link->send(round(1)), 20s));
        floor.daemon->refuse(true);
        floor.daemon->dropAll();
        REQUIRE(eventually([&] { return !link->status().online; }));
        CHECK_FALSE(link->status().mayTakeWagers);
        CHECK_FALSE(link->send(round(2)));
        const auto number = link->send(result(1));
        REQUIRE(number);
        CHECK_FALSE(link->wait(*number, 10ms));
        CHECK(link->status().undecided == 1);
    }
    floor.daemon->refuse(false);
    const auto link = floor.open();
    const auto decision = link->wait(2, 20s);
    REQUIRE(decision);
    CHECK_FALSE(decision->again);
    CHECK(*link->send(round(2)) == 3);
    CHECK(floor.daemon->fault().empty());
}

TEST_CASE("a table disconnects from a daemon that is silent for 5 s")
{
    LinkFixture floor;
    std::atomic<int> offline = 0;
    const auto link = floor.open({.onOffline = [&](const std::string&) { ++offline; }});
    REQUIRE(link->waitOnline(20s));
    const auto start = Clock::now();
    floor.daemon->beSilent(true);
    REQUIRE(eventually([&] { return offline > 0; }));
    CHECK(Clock::now() - start > 3500ms);
    CHECK(Clock::now() - start < 8s);
    CHECK_FALSE(link->status().mayTakeWagers);
    floor.daemon->beSilent(false);
    CHECK(link->waitOnline(20s));
}

TEST_CASE("an idle link stays up by heartbeats alone")
{
    LinkFixture floor;
    const auto link = floor.open();
    REQUIRE(link->waitOnline(20s));
    std::this_thread::sleep_for(6s);
    CHECK(link->status().online);
    CHECK(floor.daemon->connections() == 1);
}

TEST_CASE("news reaches the callbacks, and unavailable names the round without a result")
{
    LinkFixture floor;
    std::atomic<std::int64_t> unavailable = -1;
    std::atomic<std::int64_t> shown = 0;
    std::atomic<int> others = 0;
    const auto link = floor.open(
        {.onSettlement = [&](const Settlement& each) { others += each.awards.at(0).seat == 3; },
         .onPool = [&](const PoolNews& news) { shown = news.displayedCents; },
         .onSuspension = [&](bool suspended, const std::string&) { others += suspended ? 10 : 0; },
         .onState = [&](const TableState& state) { others += state.round == 1 ? 100 : 0; },
         .onUnavailable =
             [&](std::optional<std::int64_t> round) { unavailable = round.value_or(0); }});
    REQUIRE(link->waitOnline(20s));
    REQUIRE(link->wait(*link->send(round(1)), 20s));
    v2::ToTable message;
    message.mutable_settlement()->add_awards()->set_seat(3);
    floor.daemon->push(message);
    message.mutable_suspension()->set_suspended(true);
    floor.daemon->push(message);
    link->query();
    CHECK(eventually([&] { return others == 111; }));
    message.mutable_pool()->set_displayed_cents(4711);
    message.mutable_pool()->set_unavailable(true);
    floor.daemon->push(message);
    CHECK(eventually([&] { return unavailable == 1 && shown == 4711; }));
    CHECK_FALSE(link->send(round(2)));
    REQUIRE(link->send(Suspend{.ground = SuspensionGround::Malfunction, .by = "sue"}));
    REQUIRE(link->wait(2, 20s));
    floor.daemon->withLogic(
        [](const FakeDaemonLogic& logic) { CHECK(logic.command(2).suspend().by() == "sue"); });
}

TEST_CASE("a callback may send, and several threads may send at once")
{
    LinkFixture floor;
    TableLink* self = nullptr;
    std::atomic<int> chained = 0;
    const auto link = floor.open({.onDecision = [&](const Decision& decision) {
        if (decision.number <= 5 && self->send(result(1))) ++chained;
    }});
    self = link.get();
    REQUIRE(link->waitOnline(20s));
    std::vector<std::jthread> threads;
    std::atomic<int> sent = 0;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int n = 0; n < 20; ++n)
                if (const auto number = link->send(result(1)); number && link->wait(*number, 20s))
                    ++sent;
        });
    threads.clear();
    CHECK(sent == 80);
    CHECK(eventually([&] { return chained == 5 && link->status().undecided == 0; }));
    CHECK(floor.daemon->withLogic([](auto& logic) { return logic.lastNumber(); }) == 85);
    CHECK(floor.daemon->fault().empty());
}

TEST_CASE("a link can be closed within a second in every state")
{
    LinkFixture floor;
    const auto endsSoon = [](std::unique_ptr<TableLink> link) {
        const auto start = Clock::now();
        link.reset();
        CHECK(Clock::now() - start < 1s);
    };
    Options options = floor.options();
    SUBCASE("connected")
    {
        auto link = floor.open();
        REQUIRE(link->waitOnline(20s));
        endsSoon(std::move(link));
    }
    SUBCASE("just started") { endsSoon(floor.open()); }
    SUBCASE("nobody listens")
    {
        floor.daemon.reset();
        options.port = 1;
        endsSoon(TableLink::open(options, {}).value());
    }
    SUBCASE("nobody answers")
    {
        options.host = "192.0.2.1";  // for documentation (RFC 5737)
        auto link = TableLink::open(options, {});
        std::this_thread::sleep_for(50ms);
        endsSoon(*std::move(link));
    }
    SUBCASE("a host name that does not exist")
    {
        options.host = "nowhere.invalid";
        auto link = TableLink::open(options, {});
        std::this_thread::sleep_for(50ms);
        endsSoon(*std::move(link));
    }
    SUBCASE("waiting for a welcome")
    {
        floor.daemon->beSilent(true);
        auto link = floor.open();
        REQUIRE(eventually([&] { return floor.daemon->connections() > 0; }));
        endsSoon(std::move(link));
    }
}

TEST_CASE("a refused certificate is reported, and a renewed one is used without a restart")
{
    LinkFixture floor;
    Authority other{floor.scratch.path(), "other"};
    const auto foreign = other.table("BJ01");
    Options options = floor.options();
    options.certificate = floor.scratch / "mine.pem";
    options.key = floor.scratch / "mine.key";
    const auto install = [&](const net::TlsFiles& files) {
        const auto overwrite = std::filesystem::copy_options::overwrite_existing;
        std::filesystem::copy_file(files.certificate, options.certificate, overwrite);
        std::filesystem::copy_file(files.key, options.key, overwrite);
    };
    install(foreign);
    std::atomic<int> refused = 0;
    auto link = TableLink::open(options, {.onOffline = [&](const std::string&) { ++refused; }});
    REQUIRE(link);
    CHECK(eventually([&] { return refused > 0; }));
    CHECK_FALSE((*link)->status().online);
    install(floor.files);
    CHECK((*link)->waitOnline(20s));
}

TEST_CASE("files that can't be used are refused at once")
{
    LinkFixture floor;
    Options options = floor.options();
    options.key = "nowhere";
    CHECK_FALSE(TableLink::open(options, {}));
    options = floor.options();
    options.outbox = "/nowhere/outbox";
    CHECK_FALSE(TableLink::open(options, {}));
    const auto link = floor.open();
    CHECK_FALSE(TableLink::open(floor.options(), {}));  // the outbox is in use
}

}  // namespace jackpot::link
