#include "linkproto/client/table_link.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <future>
#include <limits>
#include <mutex>
#include <random>
#include <stop_token>
#include <thread>

#include "linkproto/client/client_codec.h"
#include "linkproto/client/table_session.h"
#include "linkproto/frame.h"
#include "net/tls.h"

namespace jackpot::link {
namespace {

using linkproto::ClockReading;
using linkproto::Outbox;
using linkproto::TableFault;
using linkproto::TableSession;
using net::TlsContext;
using net::TlsStream;
using Progress = net::TlsStream::Progress;

constexpr std::int64_t kConnectMs = 5000;  // resolving, TCP and TLS together
constexpr std::size_t kReadBytes = 64U << 10U;
constexpr std::size_t kRememberedDecisions = 1024;

class Descriptor {
public:
    explicit Descriptor(int number) : number_{number} {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor()
    {
        if (number_ >= 0) ::close(number_);
    }
    [[nodiscard]] int number() const { return number_; }
    int release() { return std::exchange(number_, -1); }

private:
    int number_;
};

struct Address {
    sockaddr_storage bytes{};
    socklen_t size = 0;
};

struct Addresses {
    std::vector<Address> found;
    std::string error;
};

Addresses lookUp(const std::string& host, std::uint16_t port, int flags)
{
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* list = nullptr;
    Addresses addresses;
    if (const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
        error != 0) {
        addresses.error = host + ": " + gai_strerror(error);
        return addresses;
    }
    for (const addrinfo* each = list; each; each = each->ai_next) {
        Address address;
        address.size = each->ai_addrlen;
        std::memcpy(&address.bytes, each->ai_addr, each->ai_addrlen);
        addresses.found.push_back(address);
    }
    freeaddrinfo(list);
    return addresses;
}

net::TlsFiles filesOf(const Options& options)
{
    return {.certificate = options.certificate,
            .key = options.key,
            .ca = options.ca,
            .crl = options.crl};
}

int pollTimeout(std::int64_t untilMs)
{
    const std::int64_t left = untilMs - ClockReading::now().bootMs;
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

}  // namespace

class TableLink::Worker final : private linkproto::TableEvents {
public:
    Worker(const Options& options, Callbacks callbacks, Outbox outbox, net::TlsContext tls,
           int wake)
        : options_{options},
          callbacks_{std::move(callbacks)},
          tls_{std::move(tls)},
          wake_{wake},
          session_{std::move(outbox), *this, options.software, std::random_device{}()},
          thread_{[this](const std::stop_token& stop) { run(stop); }}
    {}
    ~Worker() override
    {
        thread_.request_stop();
        wake();
        thread_.join();
        changed_.notify_all();
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    Result<std::uint64_t> send(std::vector<v2::Command> commands, std::int64_t agoMs)
    {
        if (commands.empty()) return Error{"nothing to send"};
        const std::scoped_lock lock{mutex_};
        auto number = session_.enqueue(commands, ClockReading::now(), agoMs);
        wake();
        return number;
    }

    Result<Decision> wait(std::uint64_t number, std::chrono::milliseconds timeout)
    {
        std::unique_lock lock{mutex_};
        if (number > session_.outbox().memory().last)
            return Error{"command " + std::to_string(number) + " was never sent"};
        const auto isDecided = [&] { return session_.outbox().memory().decided >= number; };
        changed_.wait_for(lock, timeout, [&] { return isDecided() || session_.stoppedBy(); });
        if (!isDecided()) {
            const auto fault = session_.stoppedBy();
            return Error{"command " + std::to_string(number) + " is not decided yet" +
                         (fault ? ": " + std::string{nameOf(*fault)} : std::string{})};
        }
        const auto found =
            std::lower_bound(decisions_.begin(), decisions_.end(), number,
                             [](const Decision& a, std::uint64_t b) { return a.number < b; });
        if (found == decisions_.end() || found->number != number)
            return Error{"command " + std::to_string(number) + " was decided long ago"};
        return *found;
    }

    void query()
    {
        const std::scoped_lock lock{mutex_};
        session_.query(ClockReading::now());
        wake();
    }

    bool waitOnline(std::chrono::milliseconds timeout)
    {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, timeout, [&] { return session_.isOnline(); });
    }

    Status status() const
    {
        const std::scoped_lock lock{mutex_};
        const auto fault = session_.stoppedBy();
        return {.online = session_.isOnline(),
                .mayTakeWagers = session_.mayTakeWagers(ClockReading::now()),
                .suspended = session_.isSuspended(),
                .unavailable = session_.isUnavailable(),
                .displayedCents = session_.displayedCents(),
                .undecided = session_.outbox().entries().size(),
                .openRound = session_.openRound(),
                .stoppedBy = fault ? std::string{nameOf(*fault)} : std::string{}};
    }

    TableState state() const
    {
        const std::scoped_lock lock{mutex_};
        return linkproto::fromWire(session_.state());
    }

private:
    // ---- what the session tells, with the lock held: passed on without it ---------------------

    template <class... Arguments, class... Values>
    void tell(const std::function<void(Arguments...)>& whom, Values... values)
    {
        if (whom) news_.push_back([&whom, values...] { whom(values...); });
    }
    void onWelcome(const v2::Welcome& welcome) override
    {
        tell(callbacks_.onOnline, linkproto::fromWire(welcome.state()));
    }
    void onDecision(const v2::Decision& decision) override
    {
        decisions_.push_back(linkproto::fromWire(decision));
        if (decisions_.size() > kRememberedDecisions) decisions_.pop_front();
        tell(callbacks_.onDecision, decisions_.back());
    }
    void onPool(const v2::PoolNews& news) override
    {
        tell(callbacks_.onPool, linkproto::fromWire(news));
    }
    void onSuspension(const v2::Suspension& suspension) override
    {
        tell(callbacks_.onSuspension, suspension.suspended(), suspension.reason());
    }
    void onSettlement(const v2::Settlement& settlement) override
    {
        tell(callbacks_.onSettlement, linkproto::fromWire(settlement));
    }
    void onState(const v2::TableState& state) override
    {
        tell(callbacks_.onState, linkproto::fromWire(state));
    }
    void onUnavailable(std::optional<std::int64_t> round) override
    {
        tell(callbacks_.onUnavailable, round);
    }
    void onGoodbye(const v2::Goodbye& goodbye) override
    {
        whyDown_ = "the daemon said goodbye: " + v2::Goodbye::Why_Name(goodbye.why());
        if (!goodbye.detail().empty()) whyDown_ += ": " + goodbye.detail();
    }
    void onFault(TableFault fault, std::string_view detail) override
    {
        if (whyDown_.empty()) whyDown_ = detail;
        tell(callbacks_.onFault, std::string{nameOf(fault)}, std::string{detail});
    }

    void passOn()
    {
        std::vector<std::function<void()>> news;
        {
            const std::scoped_lock lock{mutex_};
            news.swap(news_);
        }
        changed_.notify_all();
        for (const auto& each : news) each();
    }

    // ---- the thread -----------------------------------------------------------------------------

    void wake() const
    {
        const std::uint64_t one = 1;
        (void)!::write(wake_.number(), &one, sizeof one);
    }

    enum class Woken : std::uint8_t { Ready, Called, TimedOut };
    Woken sleep(int socket, short events, std::int64_t untilMs) const
    {
        pollfd waiting[] = {{wake_.number(), POLLIN, 0}, {socket, events, 0}};
        const int ready = ::poll(waiting, 2, pollTimeout(untilMs));
        if (ready > 0 && waiting[0].revents != 0) {
            std::uint64_t count = 0;
            (void)!::read(wake_.number(), &count, sizeof count);
        }
        if (ready > 0 && waiting[1].revents != 0) return Woken::Ready;
        return ready == 0 ? Woken::TimedOut : Woken::Called;
    }

    // Until the socket is ready; false at the deadline or when the thread is to end.
    bool awaitSocket(int socket, short events, std::int64_t untilMs,
                     const std::stop_token& stop) const
    {
        while (!stop.stop_requested() && ClockReading::now().bootMs < untilMs)
            if (sleep(socket, events, untilMs) == Woken::Ready) return !stop.stop_requested();
        return false;
    }

    // Only in this thread: what signals do elsewhere is the controller's business.
    static void blockBrokenPipe()
    {
        sigset_t brokenPipe;
        sigemptyset(&brokenPipe);
        sigaddset(&brokenPipe, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &brokenPipe, nullptr);
    }

    void run(const std::stop_token& stop)
    {
        blockBrokenPipe();
        while (awaitTurn(stop)) {
            std::string why;
            auto stream = connect(stop, why);
            if (stream) why = serve(*stream, stop);
            {
                const std::scoped_lock lock{mutex_};
                session_.onDisconnected(ClockReading::now());
                tell(callbacks_.onOffline, whyDown_.empty() ? why : whyDown_);
                whyDown_.clear();
            }
            passOn();
        }
    }

    bool awaitTurn(const std::stop_token& stop)
    {
        while (!stop.stop_requested()) {
            passOn();
            std::int64_t turnMs = 0;
            {
                const std::scoped_lock lock{mutex_};
                turnMs = session_.nextDeadline();
            }
            if (ClockReading::now().bootMs >= turnMs) return true;
            (void)sleep(-1, 0, turnMs);
        }
        return false;
    }

    // A name server can take longer than anybody waits here, so it is asked in a thread that may
    // outlive this object and touches nothing of it.
    Addresses resolve(std::int64_t untilMs, const std::stop_token& stop) const
    {
        auto addresses = lookUp(options_.host, options_.port, AI_NUMERICHOST);
        if (!addresses.found.empty()) return addresses;
        std::packaged_task<Addresses()> task{
            [host = options_.host, port = options_.port] { return lookUp(host, port, 0); }};
        auto answer = task.get_future();
        std::thread{std::move(task)}.detach();
        while (!stop.stop_requested() && ClockReading::now().bootMs < untilMs)
            if (answer.wait_for(std::chrono::milliseconds{20}) == std::future_status::ready)
                return answer.get();
        return {.found = {}, .error = options_.host + ": its address could not be found in time"};
    }

    std::optional<net::TlsStream> connect(const std::stop_token& stop, std::string& why)
    {
        const std::int64_t untilMs = ClockReading::now().bootMs + kConnectMs;
        // A renewed certificate counts from the next connection on.
        if (auto renewed =
                net::TlsContext::make(net::TlsContext::Role::MutualClient, filesOf(options_)))
            tls_ = *std::move(renewed);
        const auto addresses = resolve(untilMs, stop);
        why = addresses.error;
        for (const Address& address : addresses.found) {
            Descriptor socket{connectTo(address, untilMs, stop, why)};
            if (socket.number() < 0) continue;
            std::optional<net::TlsStream> stream{std::in_place, tls_, socket.release(),
                                                 options_.host};
            if (shakeHands(*stream, untilMs, stop, why)) return stream;
        }
        return std::nullopt;
    }

    int connectTo(const Address& address, std::int64_t untilMs, const std::stop_token& stop,
                  std::string& why) const
    {
        Descriptor socket{
            ::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
        const int on = 1;
        int error = 0;
        if (socket.number() < 0 ||
            ::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
            (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address.bytes),
                       address.size) != 0 &&
             errno != EINPROGRESS)) {
            error = errno;
        } else if (!awaitSocket(socket.number(), POLLOUT, untilMs, stop)) {
            error = ETIMEDOUT;
        } else {
            socklen_t size = sizeof error;
            ::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &size);
        }
        if (error == 0) return socket.release();
        why = std::string{"no connection: "} + std::strerror(error);
        return -1;
    }

    bool shakeHands(net::TlsStream& stream, std::int64_t untilMs, const std::stop_token& stop,
                    std::string& why) const
    {
        while (true) {
            const Progress progress = stream.handshake();
            if (progress == Progress::Done) return true;
            const bool wants = progress == Progress::WantsRead || progress == Progress::WantsWrite;
            const short events = progress == Progress::WantsRead ? POLLIN : POLLOUT;
            if (wants && awaitSocket(stream.socket(), events, untilMs, stop)) continue;
            why = "TLS: " + (wants ? "no answer" : stream.error());
            return false;
        }
    }

    // Until the connection ends; why it did.
    std::string serve(net::TlsStream& stream, const std::stop_token& stop)
    {
        linkproto::FrameReader reader;
        std::string output;
        std::string_view unsent;
        bool isHangingUp = false;
        {
            const std::scoped_lock lock{mutex_};
            session_.onConnected(ClockReading::now());
        }
        while (!stop.stop_requested()) {
            std::int64_t deadlineMs = 0;
            {
                const std::scoped_lock lock{mutex_};
                const ClockReading now = ClockReading::now();
                while (const auto frame = reader.next()) session_.onFrame(*frame, now);
                session_.onTick(now);
                isHangingUp =
                    session_.mustHangUp() || reader.fault() != linkproto::FrameReader::Fault::None;
                output.erase(0, output.size() - unsent.size());
                session_.takeOutput(output);
                unsent = output;
                deadlineMs = session_.nextDeadline();
            }
            passOn();
            if (isHangingUp) {
                stream.close();
                return "silence, or what is not in the protocol";
            }
            if (stream.write(unsent) == Progress::Failed) return stream.error();
            const Progress progress = stream.read(reader.buffer(), kReadBytes);
            if (progress == Progress::Closed) return "the daemon closed the connection";
            if (progress == Progress::Failed) return stream.error();
            if (progress == Progress::Done) continue;
            const short events = unsent.empty() ? POLLIN : POLLIN | POLLOUT;
            (void)sleep(stream.socket(), events, deadlineMs);
        }
        stream.close();
        return "stopped";
    }

    const Options options_;
    const Callbacks callbacks_;
    net::TlsContext tls_;  // of the thread
    const Descriptor wake_;

    mutable std::mutex mutex_;  // what follows
    std::condition_variable changed_;
    TableSession session_;
    std::string whyDown_;
    std::deque<Decision> decisions_;
    std::vector<std::function<void()>> news_;

    std::jthread thread_;
};

Result<std::unique_ptr<TableLink>> TableLink::open(const Options& options, Callbacks callbacks)
{
    auto tls = net::TlsContext::make(net::TlsContext::Role::MutualClient, filesOf(options));
    if (!tls) return tls.error();
    auto outbox = options.outbox.empty()
                      ? Result<Outbox>{Outbox::inMemory(options.table)}
                      : Outbox::open(options.outbox, options.table, linkproto::bootId());
    if (!outbox) return outbox.error();
    Descriptor wake{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    if (wake.number() < 0) return Error{std::string{"eventfd: "} + std::strerror(errno)};
    return std::unique_ptr<TableLink>{new TableLink{std::make_unique<Worker>(
        options, std::move(callbacks), *std::move(outbox), *std::move(tls), wake.release())}};
}

TableLink::TableLink(std::unique_ptr<Worker> worker) : worker_{std::move(worker)} {}
TableLink::~TableLink() = default;

Result<std::uint64_t> TableLink::send(const Command& command, std::chrono::milliseconds ago)
{
    return worker_->send({linkproto::toWire(command)}, ago.count());
}

Result<std::uint64_t> TableLink::send(const std::vector<Command>& commands)
{
    std::vector<v2::Command> wire;
    for (const Command& command : commands) wire.push_back(linkproto::toWire(command));
    return worker_->send(std::move(wire), 0);
}

Result<Decision> TableLink::wait(std::uint64_t number, std::chrono::milliseconds timeout)
{
    return worker_->wait(number, timeout);
}

void TableLink::query() { worker_->query(); }
bool TableLink::waitOnline(std::chrono::milliseconds timeout)
{
    return worker_->waitOnline(timeout);
}
Status TableLink::status() const { return worker_->status(); }
TableState TableLink::state() const { return worker_->state(); }

}  // namespace jackpot::link
