// Displays that poll, beside a bare libmodbus server with the same raw client: reads a second with
// 10, 100 and 500 of them, idle and while tables wager at half of what the daemon can take; and how
// long after a wager's acknowledgement its amount is read. Ratios inside one run, rounds
// interleaved, medians. Figures for docs/benchmarks.md: ./dev bench meters
#include <arpa/inet.h>
#include <modbus.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>

#include "bench/daemon.h"
#include "bench/link_load.h"
#include "bench/measurement.h"
#include "meters/modbus_server.h"
#include "meters/registers.h"

namespace jackpot::bench {
namespace {

constexpr int kRounds = 5;
constexpr std::size_t kAnswerBytes = 9 + 2 * meters::kRegisters;
constexpr std::array<std::uint8_t, 12> kRequest{0, 1, 0, 0, 0, 6, 1, 4, 0, 0, 0, 40};

// A server in a process of its own, which says its port through a pipe.
class Child {
public:
    explicit Child(const std::function<void(int port)>& serve)
    {
        std::array<int, 2> pipe{};
        if (::pipe(pipe.data()) != 0) fail("pipe");
        process_ = ::fork();
        if (process_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            serve(pipe[1]);
            std::_Exit(0);
        }
        ::close(pipe[1]);
        if (::read(pipe[0], &port_, sizeof port_) != sizeof port_) fail("the server did not start");
        ::close(pipe[0]);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child()
    {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    pid_t process_ = 0;
    std::uint16_t port_ = 0;
};

void say(int pipe, std::uint16_t port)
{
    if (::write(pipe, &port, sizeof port) != sizeof port) std::_Exit(1);
}

// As libmodbus's own example serves many clients.
void serveBare(int pipe)
{
    modbus_t* const context = modbus_new_tcp("127.0.0.1", 0);
    modbus_mapping_t* const mapping = modbus_mapping_new(0, 0, 0, meters::kRegisters);
    const int listener = modbus_tcp_listen(context, SOMAXCONN);
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    say(pipe, ntohs(address.sin_port));
    fd_set known;
    FD_ZERO(&known);
    FD_SET(listener, &known);
    int highest = listener;
    std::array<std::uint8_t, MODBUS_TCP_MAX_ADU_LENGTH> query{};
    for (;;) {
        fd_set ready = known;
        if (::select(highest + 1, &ready, nullptr, nullptr, nullptr) < 0) continue;
        for (int socket = 0; socket <= highest; ++socket) {
            if (!FD_ISSET(socket, &ready)) continue;
            if (socket == listener) {
                const int accepted = ::accept(listener, nullptr, nullptr);
                const int on = 1;
                ::setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                FD_SET(accepted, &known);
                highest = std::max(highest, accepted);
                continue;
            }
            modbus_set_socket(context, socket);
            const int length = modbus_receive(context, query.data());
            if (length > 0) {
                modbus_reply(context, query.data(), length, mapping);
            } else if (length == -1) {
                ::close(socket);
                FD_CLR(socket, &known);
            }
        }
    }
}

void serveOurs(int pipe)
{
    meters::PublishedReadings board{1};
    meters::PoolReading reading;
    reading.pool = "B7";
    reading.open = true;
    reading.displayed = rules::Money::ofCents(5'000'000);
    board.publish(0, reading, 1);
    meters::ServerSettings settings;
    settings.listeners.emplace_back();
    settings.allow.push_back({{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127}, 104});
    settings.maxDisplays = settings.maxDisplaysPerAddress = 2000;
    auto server = meters::Server::listen(settings, {{"M1", 0, 0, 1, {}}}, board);
    if (!server) std::_Exit(1);
    say(pipe, (*server)->port());
    for (;;) ::pause();
}

// So many displays on one thread, each asking again as soon as it has its answer.
class Displays {
public:
    Displays(std::uint16_t port, int count) : epoll_{::epoll_create1(EPOLL_CLOEXEC)}
    {
        for (int i = 0; i < count; ++i) {
            const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            sockaddr_in address{};
            address.sin_family = AF_INET;
            address.sin_port = htons(port);
            address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
                fail("cannot connect a display");
            const int on = 1;
            ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.fd = socket;
            ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event);
            sockets_.push_back(socket);
        }
    }
    Displays(const Displays&) = delete;
    Displays& operator=(const Displays&) = delete;
    ~Displays()
    {
        for (const int each : sockets_) ::close(each);
        ::close(epoll_);
    }

    // Reads a second.
    double run(double seconds)
    {
        // Displays are other machines: they do not wait here for a core that tables and daemon use.
        if (::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), -10) != 0)
            std::fprintf(stderr, "the displays run at the priority of all others: not root\n");
        for (const int each : sockets_) ask(each);
        std::array<epoll_event, 256> events{};
        std::array<std::uint8_t, 512> answer{};
        std::uint64_t reads = 0;
        std::size_t waiting = sockets_.size();
        double took = 0;
        const auto start = Clock::now();
        while (waiting > 0) {
            const int count = ::epoll_wait(epoll_, events.data(), events.size(), 1000);
            if (count == 0) fail("a display has no answer");
            took = secondsSince(start);
            for (int i = 0; i < count; ++i) {
                const int socket = events[static_cast<std::size_t>(i)].data.fd;
                if (::recv(socket, answer.data(), answer.size(), 0) != kAnswerBytes)
                    fail("a display has not got its registers");
                ++reads;
                if (took < seconds)
                    ask(socket);
                else
                    --waiting;
            }
        }
        return static_cast<double>(reads) / took;
    }

    // The amount that the first display reads.
    std::int64_t cents()
    {
        ask(sockets_[0]);
        std::array<std::uint8_t, kAnswerBytes> answer{};
        if (::recv(sockets_[0], answer.data(), answer.size(), MSG_WAITALL) != kAnswerBytes)
            fail("a display has not got its registers");
        std::int64_t cents = 0;
        for (std::size_t i = 0; i < 8; ++i)
            cents = cents << 8U | answer[9 + 2 * meters::address::kCents + i];
        return cents;
    }

private:
    static void ask(int socket)
    {
        if (::send(socket, kRequest.data(), kRequest.size(), 0) !=
            static_cast<ssize_t>(kRequest.size()))
            fail("send");
    }
    int epoll_;
    std::vector<int> sockets_;
};

bool readsASecond()
{
    const Child ours{serveOurs};
    const Child bare{serveBare};
    bool good = true;
    for (const int count : {10, 100, 500}) {
        std::vector<double> ratios;
        std::vector<double> rates;
        Displays atOurs{ours.port(), count};
        Displays atBare{bare.port(), count};
        for (int i = 0; i < kRounds; ++i) {
            rates.push_back(atOurs.run(1));
            ratios.push_back(rates.back() / atBare.run(1));
        }
        std::printf("%d displays: %.0f reads/s\n", count, median(rates));
        good = checkTarget(
                   "reads a second / bare libmodbus server, " + std::to_string(count) + " displays",
                   median(ratios), 1.2) &&
               good;
    }
    return good;
}

struct WhileWagering {
    double reads;
    double wagers;
};

// A second of reads while the tables wager on a thread of their own.
WhileWagering pollWhileWagering(Displays& displays, Load& load, double wagersASecond)
{
    WhileWagering both{};
    std::jthread wagers{[&] { both.wagers = load.runAt(wagersASecond, 1.4, 32).perSecond; }};
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
    both.reads = displays.run(1);
    wagers.join();
    return both;
}

// At half of what the tables can wager at most.
bool whileTablesWager(Daemon& daemon, Load& load)
{
    (void)load.run(0.5, 32, 16);
    const double most = load.run(2, 32, 16).perSecond;
    const Child bare{serveBare};
    bool good = true;
    for (const int count : {10, 100, 500}) {
        std::vector<double> ratios;
        std::vector<double> reads;
        std::vector<double> wagers;
        std::vector<double> wagersBesideBare;
        Displays atOurs{daemon.meterPort(), count};
        Displays atBare{bare.port(), count};
        for (int i = 0; i < kRounds; ++i) {
            const WhileWagering ours = pollWhileWagering(atOurs, load, most / 2);
            const WhileWagering theirs = pollWhileWagering(atBare, load, most / 2);
            reads.push_back(ours.reads);
            wagers.push_back(ours.wagers);
            wagersBesideBare.push_back(theirs.wagers);
            ratios.push_back(ours.reads / theirs.reads);
        }
        std::printf(
            "%d displays, %.0f reads/s, and %.0f wager commands/s (%.0f beside the bare "
            "server, %.0f is the most)\n",
            count, median(reads), median(wagers), median(wagersBesideBare), most);
        good = checkTarget("reads a second / bare server while tables wager, " +
                               std::to_string(count) + " displays",
                           median(ratios), 1.2) &&
               good;
    }
    return good;
}

// From the moment a table has its answer until a display has read an amount with the wager in it.
bool seen(Daemon& daemon, Load& load)
{
    Displays display{daemon.meterPort(), 1};
    load.idle(0.5);
    std::vector<double> took;
    for (int i = 0; i < 2000; ++i) {
        (void)load.roundTrip();
        const auto acknowledged = Clock::now();
        while (display.cents() < load.table(0).displayedCents()) {
        }
        took.push_back(secondsSince(acknowledged) * 1000);
    }
    std::ranges::sort(took);
    std::printf("a wager's amount after its acknowledgement: median %.3f ms, p99 %.3f ms\n",
                took[took.size() / 2], took[took.size() * 99 / 100]);
    const bool good =
        checkTarget("from acknowledgement to display: median, ms", took[took.size() / 2], 5, false);
    return checkTarget("from acknowledgement to display: p99, ms", took[took.size() * 99 / 100], 20,
                       false) &&
           good;
}

}  // namespace
}  // namespace jackpot::bench

int main()
{
    using namespace jackpot::bench;
    try {
        bool good = readsASecond();
        std::filesystem::create_directories(kDirectory);
        std::filesystem::remove_all(kDirectory / "pki");
        makeCertificates(32);
        Daemon daemon{"meters", 32};
        Load load{(kDirectory / "pki").string(), ids(32), daemon.port()};
        good = seen(daemon, load) && good;
        good = whileTablesWager(daemon, load) && good;
        return good ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_meters: %s\n", error.what());
        return 2;
    }
}
