// The master and its lines against a slave in this process; Python has the real ones.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <modbus/modbus.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "meters/modbus_master.h"
#include "meters/registers.h"
#include "tests/meters/display.h"
#include "tests/support/eventually.h"

namespace jackpot::meters {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Bytes = std::vector<std::uint8_t>;

struct Piece {
    milliseconds after;
    Bytes bytes;
};
// The frame of a request, and the right one of its reply.
using Behaviour = std::function<std::vector<Piece>(const Bytes& request, const Bytes& reply)>;

std::vector<Piece> rightly(const Bytes& /*request*/, const Bytes& reply) { return {{0ms, reply}}; }

// Confirms each write over TCP, one connection at a time.
class FakeSlave {
public:
    explicit FakeSlave(Behaviour behaviour) : behaviour_{std::move(behaviour)}
    {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        REQUIRE(::bind(listener_, any, size) == 0);
        REQUIRE(::listen(listener_, 8) == 0);
        ::getsockname(listener_, any, &size);
        port_ = ::ntohs(address.sin_port);
        thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
    }
    ~FakeSlave()
    {
        thread_.request_stop();
        thread_.join();
        ::close(listener_);
    }
    FakeSlave(const FakeSlave&) = delete;
    FakeSlave& operator=(const FakeSlave&) = delete;

    [[nodiscard]] TcpAddress address() const { return {"127.0.0.1", port_}; }
    [[nodiscard]] int requests() const { return requests_; }

private:
    static bool canRead(int descriptor)
    {
        pollfd waited{descriptor, POLLIN, 0};
        return ::poll(&waited, 1, 10) == 1;
    }

    void run(const std::stop_token& stop)
    {
        while (!stop.stop_requested()) {
            if (!canRead(listener_)) continue;
            const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            while (!stop.stop_requested() && serveOne(connection)) {
            }
            ::close(connection);
        }
    }

    bool serveOne(int connection)
    {
        if (!canRead(connection)) return true;
        Bytes request(260);
        const ssize_t got = ::recv(connection, request.data(), request.size(), 0);
        if (got < 12) return false;
        request.resize(static_cast<std::size_t>(got));
        ++requests_;
        Bytes reply{request.begin(), request.begin() + 12};
        reply[4] = 0;
        reply[5] = 6;
        for (const Piece& piece : behaviour_(request, reply)) {
            std::this_thread::sleep_for(piece.after);
            if (::send(connection, piece.bytes.data(), piece.bytes.size(), MSG_NOSIGNAL) == -1)
                return false;
        }
        return true;
    }

    Behaviour behaviour_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<int> requests_{0};
    std::jthread thread_;
};

std::vector<Piece> drip(const Bytes& /*request*/, const Bytes& reply)
{
    std::vector<Piece> pieces;
    for (const std::uint8_t byte : reply) pieces.push_back({60ms, {byte}});
    return pieces;
}

Behaviour with(std::size_t at, std::uint8_t byte)
{
    return [=](const Bytes&, Bytes reply) {
        reply[at] = byte;
        return std::vector<Piece>{{0ms, reply}};
    };
}

Result<void> writeOnce(const FakeSlave& slave, milliseconds timeout)
{
    Line line{slave.address(), *LowDescriptor::reserve()};
    const Clock::time_point deadline = Clock::now() + timeout;
    if (auto opened = line.open(deadline); !opened) return opened;
    return line.writeOne(7, 3, 0x1234, deadline);
}

// The same by what libmodbus has for it.
bool libmodbusBelieves(const FakeSlave& slave)
{
    modbus_t* const modbus = modbus_new_tcp("127.0.0.1", slave.address().port);
    modbus_set_slave(modbus, 7);
    modbus_set_response_timeout(modbus, 0, 200'000);
    const bool believed =
        modbus_connect(modbus) == 0 && modbus_write_register(modbus, 3, 0x1234) == 1;
    modbus_close(modbus);
    modbus_free(modbus);
    return believed;
}

std::pair<dev_t, ino_t> fileAt(int descriptor)
{
    struct stat found {};
    REQUIRE(::fstat(descriptor, &found) == 0);
    return {found.st_dev, found.st_ino};
}

TEST_CASE("a low descriptor keeps its number, whatever is put there")
{
    LowDescriptor low = *LowDescriptor::reserve();
    const int number = low.number();
    CHECK(number < FD_SETSIZE);
    const auto null = fileAt(number);
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const auto pipe = fileAt(ends[0]);
    low.put(ends[0]);
    CHECK(low.number() == number);
    CHECK(fileAt(number) == pipe);
    CHECK(::fcntl(ends[0], F_GETFD) == -1);
    CHECK((::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0);
    low.clear();
    CHECK(fileAt(number) == null);
    const LowDescriptor moved = std::move(low);
    CHECK(moved.number() == number);
    ::close(ends[1]);
}

TEST_CASE("a reply that confirms something else is not believed, as libmodbus alone would")
{
    struct Case {
        const char* what;
        std::size_t at;
        std::uint8_t byte;
    };
    for (const Case& each : {Case{"unit", 6, 8}, Case{"address", 9, 4}, Case{"value", 11, 0x35},
                             Case{"length", 5, 7}, Case{"half of the protocol", 3, 1}}) {
        CAPTURE(each.what);
        const FakeSlave slave{with(each.at, each.byte)};
        CHECK(libmodbusBelieves(slave));  // negative control
        CHECK_FALSE(writeOnce(slave, 1s));
    }
    const FakeSlave slave{rightly};
    CHECK(libmodbusBelieves(slave));
    CHECK(writeOnce(slave, 1s));
}

TEST_CASE("slow bytes take no longer than the timeout in all")
{
    // 12 bytes, 60 ms apart.
    const FakeSlave slave{drip};
    // Negative control: libmodbus's timeout starts again with each byte.
    Clock::time_point begun = Clock::now();
    CHECK(libmodbusBelieves(slave));
    CHECK(Clock::now() - begun > 500ms);

    begun = Clock::now();
    const auto written = writeOnce(slave, 200ms);
    const auto took = Clock::now() - begun;
    REQUIRE_FALSE(written);
    CHECK(written.error().message == "no reply in time");
    CHECK(took >= 200ms);
    CHECK(took < 450ms);
}

DrivenDisplay displayAt(const FakeSlave& slave, std::string id, std::uint8_t unit = 1)
{
    DrivenDisplay display;
    display.id = std::move(id);
    display.line = slave.address();
    display.unit = unit;
    display.heartbeat = 100ms;
    return display;
}

TEST_CASE("a format that could show a mixture of amounts is refused, and nothing changes")
{
    const FakeSlave slave{rightly};
    const PublishedReadings board{1};
    Master master{board};
    REQUIRE(master.drive({displayAt(slave, "good")}));
    DrivenDisplay unsafe = displayAt(slave, "bad");
    unsafe.format = formatNamed("uint32_cents").value();
    unsafe.format.oneByOne = true;
    const auto refused = master.drive({unsafe});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.starts_with("bad: "));
    REQUIRE(master.states().size() == 1);
    CHECK(master.states()[0].id == "good");
}

TEST_CASE("published, read and reconfigured by several threads")
{
    const FakeSlave slave{rightly};
    const FakeSlave other{rightly};
    const FakeSlave silent{[](const Bytes&, const Bytes&) { return std::vector<Piece>{}; }};
    PublishedReadings board{1};
    Master master{board};
    std::atomic<std::int64_t> last{0};
    {
        const std::jthread writer{[&](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                board.beginTurn();
                board.publish(0, testing::readingOf("B7", ++last), 1'700'000'000);
                board.endTurn();
                board.announce();
                std::this_thread::sleep_for(1ms);
            }
        }};
        const std::jthread asker{[&](const std::stop_token& stop) {
            while (!stop.stop_requested())
                for (const DisplayState& state : master.states())
                    if (state.cents && *state.cents > last) std::abort();
        }};
        DrivenDisplay mute = displayAt(silent, "silent");
        mute.timeout = 50ms;
        for (std::uint8_t round = 1; round <= 3; ++round) {
            REQUIRE(master.drive({displayAt(slave, "stays"), displayAt(slave, "beside", 2),
                                  displayAt(other, "comes and goes", round), mute}));
            std::this_thread::sleep_for(150ms);
            REQUIRE(master.drive({displayAt(slave, "stays"), displayAt(slave, "beside", 2)}));
        }
    }
    CHECK(eventually([&] {
        const auto states = master.states();
        return states.size() == 2 && states[0].cents == last && states[1].cents == last;
    }));
    const auto states = master.states();
    CHECK(states[0].id == "stays");
    CHECK(states[0].errors == 0);
    CHECK(states[0].writes > 3);
    CHECK(states[0].connected);
    CHECK(states[0].lastWrite);
    CHECK(states[0].status == status::kOpen);
    CHECK(slave.requests() > 0);
}

}  // namespace
}  // namespace jackpot::meters
