#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "meters/modbus_server.h"
#include "tests/meters/display.h"
#include "tests/support/eventually.h"

namespace jackpot::meters {
namespace {

using namespace std::chrono_literals;
using testing::Bytes;
using testing::numberIn;
using testing::RawDisplay;
using testing::readingOf;
using testing::readRequest;
using testing::textIn;

const IpNetwork kLoopback{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127}, 104};

IpNetwork exactly(std::uint8_t last)
{
    return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, last}, 128};
}

struct Shown {
    explicit Shown(ServerSettings settings = {},
                   std::vector<PolledMeter> meters = {{"M1", 0, 0, 1, {}}, {"M2", 1, 0, 2, {}}})
    {
        board.publish(0, readingOf("B7", 5'000'000), 1);
        board.publish(1, readingOf("UTH", 6'000'000), 1);
        if (settings.listeners.empty()) settings.listeners.emplace_back();
        if (settings.allow.empty()) settings.allow.push_back(kLoopback);
        auto listening = Server::listen(std::move(settings), std::move(meters), board);
        REQUIRE(listening);
        server = std::move(*listening);
    }
    [[nodiscard]] RawDisplay display(const char* from = nullptr, std::size_t listener = 0) const
    {
        return RawDisplay{server->port(listener), from};
    }

    PublishedReadings board{2};
    std::unique_ptr<Server> server;
};

std::int64_t centsOf(const std::optional<Registers>& registers)
{
    return registers ? static_cast<std::int64_t>(numberIn(*registers, address::kCents, 4)) : -1;
}

TEST_CASE("the unit selects the meter, and who read it when is known")
{
    const Shown shown;
    const RawDisplay display = shown.display();
    CHECK(centsOf(display.poll(1)) == 5'000'000);
    CHECK(centsOf(display.poll(2)) == 6'000'000);
    CHECK(centsOf(display.poll(1)) == 5'000'000);
    display.send(readRequest(0, 1, 3));
    CHECK(display.receive(9) == Bytes{0, 1, 0, 0, 0, 3, 3, 0x84, 11});
    display.send(readRequest(39, 2, 2));  // refused: not a look at the meter
    CHECK(display.receive(9).back() == 2);

    const auto states = shown.server->states();
    REQUIRE(states.size() == 2);
    CHECK(states[0].reads == 2);
    CHECK(states[1].reads == 1);
    CHECK(states[0].lastFrom == "127.0.0.1");
    REQUIRE(states[0].lastRead);
    CHECK(*states[0].lastRead <= Clock::now());
    CHECK(shown.server->counters().reads == 3);
    CHECK(shown.server->counters().exceptions == 2);
}

TEST_CASE("an amount is there for the next read once it is published")
{
    Shown shown;
    const RawDisplay display = shown.display();
    for (std::int64_t cents = 1; cents <= 2000; ++cents) {
        shown.board.publish(0, readingOf("B7", cents), 1);
        REQUIRE(centsOf(display.poll(1)) == cents);
    }
}

TEST_CASE("a reading that is encoded once shows each status at its time")
{
    Shown shown;
    const RawDisplay display = shown.display();
    const auto status = [&] { return display.poll(1)->at(address::kStatus); };
    PoolReading reading = readingOf("B7", 1);
    reading.winShownUntil = Clock::now() + 300ms;
    shown.board.publish(0, reading, 1);
    CHECK(status() == (status::kOpen | status::kWinShown));
    CHECK(eventually([&] { return status() == status::kOpen; }, 2s));
    shown.board.beginTurn();
    CHECK(eventually([&] { return status() == (status::kFault | status::kNoJournal); }, 2s));
    shown.board.endTurn();
    CHECK(status() == status::kOpen);
    shown.board.fail();
    CHECK(status() == (status::kFault | status::kNoJournal));
    shown.board.recover();
    reading.pending = true;
    shown.board.publish(0, reading, 1);
    CHECK(status() == (status::kOpen | status::kPending));
}

TEST_CASE("long ids: a display gets the first 16 bytes, and the registers beside them are right")
{
    Shown shown;
    const RawDisplay display = shown.display();
    PoolReading reading = readingOf("POOL-OF-THE-WHOLE-GAMING-FLOOR-1", 1234);
    reading.lastWin = {rules::Money::ofCents(99), 1'800'000'000, 10,
                       "BLACKJACK-PIT-NORTH-TABLE-000012"};
    shown.board.publish(0, reading, 7);
    const auto registers = display.poll(1);
    REQUIRE(registers);
    CHECK(textIn(*registers, address::kWinTable) == "BLACKJACK-PIT-NO");
    CHECK(textIn(*registers, address::kPool) == "POOL-OF-THE-WHOL");
    CHECK(registers->at(address::kWinTier) == 2);
    CHECK(registers->at(address::kCounterLow) == 2);
    CHECK(shown.board.read(0).pool.view() == "POOL-OF-THE-WHOLE-GAMING-FLOOR-1");
    CHECK(shown.board.read(0).lastWin->table.view() == "BLACKJACK-PIT-NORTH-TABLE-000012");
}

TEST_CASE("where displays share a unit, the address selects the meter, and so does the listener")
{
    ServerSettings settings;
    settings.listeners.resize(2);
    Shown shown{settings,
                {{"any", 0, 0, 1, {}}, {"one", 1, 0, 1, exactly(2)}, {"other", 1, 1, 1, {}}}};
    CHECK(centsOf(shown.display("127.0.0.1").poll(1)) == 5'000'000);
    const RawDisplay second = shown.display("127.0.0.2");
    CHECK(centsOf(second.poll(1)) == 6'000'000);
    CHECK(centsOf(shown.display("127.0.0.1", 1).poll(1)) == 6'000'000);
    CHECK(shown.server->states()[1].lastFrom == "127.0.0.2");

    // Other meters, while it is connected: one that stays keeps its count.
    shown.server->setMeters({{"one", 0, 0, 7, exactly(2)}, {"new", 1, 0, 1, {}}});
    CHECK(eventually([&] { return centsOf(second.poll(7)) == 5'000'000; }));
    CHECK(centsOf(second.poll(1)) == 6'000'000);
    CHECK(shown.server->states()[0].id == "one");
    CHECK(shown.server->states()[0].reads >= 2);
}

TEST_CASE("who is not allowed is not heard")
{
    ServerSettings settings;
    settings.allow = {exactly(2), {{}, 128}};
    const Shown shown{settings};
    CHECK(centsOf(shown.display("127.0.0.2").poll(1)) == 5'000'000);
    CHECK(shown.display("127.0.0.1").isClosed());
    CHECK(shown.display("127.0.0.3").isClosed());
    CHECK(shown.server->counters().rejected == 2);
}

TEST_CASE("limits: of one address, and of all; who never read anything gives way")
{
    ServerSettings settings;
    settings.maxDisplays = 4;
    settings.maxDisplaysPerAddress = 3;
    const Shown shown{settings};
    std::vector<RawDisplay> displays;
    for (int i = 0; i < 3; ++i) displays.push_back(shown.display("127.0.0.1"));
    for (const RawDisplay& each : displays) CHECK(centsOf(each.poll(1)) == 5'000'000);
    CHECK(shown.display("127.0.0.1").isClosed());
    const RawDisplay idler = shown.display("127.0.0.2");
    CHECK(eventually([&] { return shown.server->counters().connections == 4; }));
    const RawDisplay fourth = shown.display("127.0.0.3");
    CHECK(centsOf(fourth.poll(1)) == 5'000'000);
    CHECK(idler.isClosed());
    CHECK(shown.display("127.0.0.4").isClosed());  // all of them read
    for (const RawDisplay& each : displays) CHECK(centsOf(each.poll(1)) == 5'000'000);
    displays.pop_back();
    CHECK(eventually([&] { return centsOf(shown.display("127.0.0.5").poll(1)) == 5'000'000; }));
}

TEST_CASE("a frame that does not end in time, and an answer that nobody takes, end the connection")
{
    ServerSettings settings;
    settings.frameTimeoutMs = 100;
    const Shown shown{settings};
    const RawDisplay good = shown.display();
    for (std::size_t size = 1; size < 12; ++size) {
        const RawDisplay half = shown.display();
        Bytes bytes = readRequest(0, 1, 1);
        bytes.resize(size);
        half.send(bytes);
        CHECK_FALSE(half.isClosed(30));
        CHECK(half.isClosed());
        CHECK(centsOf(good.poll(1)) == 5'000'000);
    }
    // Byte by byte, each in time, the whole too late.
    const RawDisplay dripping = shown.display();
    for (const std::uint8_t byte : readRequest(0, 1, 1)) {
        dripping.send({byte});
        std::this_thread::sleep_for(30ms);
    }
    CHECK(dripping.isClosed());
    CHECK(eventually([&] { return shown.server->counters().broken == 12; }));

    // Asks and never listens: after its buffers are full it is left.
    const RawDisplay deaf = shown.display();
    Bytes many;
    for (int i = 0; i < 300; ++i) {
        const Bytes one = readRequest(0, 40, 1);
        many.insert(many.end(), one.begin(), one.end());
    }
    ::fcntl(deaf.socket(), F_SETFL, O_NONBLOCK);
    CHECK(eventually([&] {
        for (int i = 0; i < 50; ++i) deaf.send(many);
        return shown.server->counters().broken == 13;
    }));
    CHECK(centsOf(good.poll(1)) == 5'000'000);
}

TEST_CASE("one byte at a time, but in time, is a read")
{
    ServerSettings settings;
    settings.frameTimeoutMs = 5000;
    const Shown shown{settings};
    const RawDisplay slow = shown.display();
    for (int i = 0; i < 3; ++i) {
        for (const std::uint8_t byte : readRequest(0, 40, 1)) {
            slow.send({byte});
            std::this_thread::sleep_for(2ms);
        }
        CHECK(slow.receive(89).size() == 89);
    }
}

TEST_CASE("who asks nothing is left after a while")
{
    ServerSettings settings;
    settings.idleTimeoutMs = 1000;
    const Shown shown{settings};
    const RawDisplay idle = shown.display();
    const RawDisplay busy = shown.display();
    for (int i = 0; i < 20; ++i) {
        CHECK(centsOf(busy.poll(1)) == 5'000'000);
        std::this_thread::sleep_for(100ms);
    }
    CHECK(idle.isClosed());
    CHECK(centsOf(busy.poll(1)) == 5'000'000);
}

TEST_CASE("a display whose descriptor is above 1024 is served like any other")
{
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    REQUIRE(limit.rlim_max > 2200);
    std::vector<int> others;
    for (int i = 0; i < 2000; ++i) others.push_back(::dup(STDERR_FILENO));
    REQUIRE(others.back() > 1024);
    const Shown shown;
    const RawDisplay display = shown.display();
    CHECK(display.socket() > 1024);
    CHECK(centsOf(display.poll(1)) == 5'000'000);
    for (const int each : others) ::close(each);
}

TEST_CASE("an address that is taken is said")
{
    const Shown shown;
    PublishedReadings board{1};
    ServerSettings settings;
    settings.listeners.push_back({"127.0.0.1", 0});
    settings.listeners.push_back({"127.0.0.1", shown.server->port()});
    const auto second = Server::listen(settings, {}, board);
    REQUIRE_FALSE(second);
    CHECK(second.error().message.find("cannot listen: Address already in use") !=
          std::string::npos);
}

}  // namespace
}  // namespace jackpot::meters
