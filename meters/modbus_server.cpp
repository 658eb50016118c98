#include "meters/modbus_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "meters/modbus_codec.h"
#include "meters/registers.h"
#include "net/socket.h"

namespace jackpot::meters {
namespace {

// Edge-triggered: one event per arrival. Input that is left unread must be repeated by hand.
constexpr std::uint32_t kInput = EPOLLIN | EPOLLRDHUP | EPOLLET;
constexpr std::size_t kReadAtOnce = 4096;  // of one display, before the next one's turn
constexpr std::chrono::milliseconds kMaxTick{2000};
constexpr std::chrono::milliseconds kWriteTimeout{1000};  // for a display to receive its answers

IpAddress bytesOf(const sockaddr_storage& address)
{
    IpAddress bytes{};
    if (address.ss_family == AF_INET6) {
        std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, 16);
    } else {
        bytes[10] = bytes[11] = 0xff;
        std::memcpy(bytes.data() + 12, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, 4);
    }
    return bytes;
}

// Idle connections are closed at a tick.
std::chrono::milliseconds tickFor(const ServerSettings& settings)
{
    return std::min(std::chrono::milliseconds{settings.idleTimeoutMs / 2}, kMaxTick);
}

// A configured meter and its counters, which only the server's thread changes.
struct Meter {
    PolledMeter config;
    // The last reading, encoded once; its status is added for each read.
    PoolReading reading;
    Registers registers{};
    std::uint32_t version = PublishedReadings::kNoVersion;
    std::atomic<std::uint64_t> reads{0};
    std::atomic<Clock::rep> lastRead{0};
    std::uint64_t lastConnection = 0;  // for the server's thread only
    std::string lastFrom;              // guarded by the mutex
};

struct Display {
    Display(net::AcceptedConnection accepted, Clock::time_point now)
        : slot{std::move(accepted.slot)},
          id{accepted.id},
          socket{accepted.socket},
          listener{accepted.listener},
          address{bytesOf(accepted.peer)},
          lastAnswered{now}
    {}
    Display(const Display&) = delete;
    Display& operator=(const Display&) = delete;
    ~Display() { ::close(socket); }

    net::ConnectionSlot slot;
    const std::uint64_t id;
    const int socket;
    const std::size_t listener;
    const IpAddress address;
    std::array<Meter*, 256> units{};
    RequestReader requests;
    std::vector<std::uint8_t> output;  // that the socket has not accepted yet
    bool wantsWrite = false;           // as epoll knows it
    Clock::time_point lastAnswered;    // or when it was accepted
};

}  // namespace

class Server::Impl final : private net::EventHandler, private UnitSource {
public:
    Impl(ServerSettings settings, std::vector<PolledMeter> meters,
         const PublishedReadings& readings, const std::vector<int>& listeners)
        : settings_{std::move(settings)},
          readings_{readings},
          loop_{tickFor(settings_),
                {settings_.maxDisplays, settings_.maxDisplaysPerAddress},
                counters_}
    {
        replaceMeters(std::move(meters));
        for (const int listener : listeners) loop_.addListener(listener);
    }

    [[nodiscard]] std::uint16_t port(std::size_t listener) const { return loop_.port(listener); }
    [[nodiscard]] const Counters& counters() const { return counters_; }

    // --- any thread

    void stop() { loop_.stop(); }
    void setMeters(std::vector<PolledMeter> meters)
    {
        {
            const std::scoped_lock lock{mutex_};
            newMeters_ = std::move(meters);
        }
        loop_.wakeUp();
    }
    std::vector<PollState> states() const
    {
        const std::scoped_lock lock{mutex_};
        std::vector<PollState> states;
        for (const auto& meter : meters_) {
            const Clock::rep last = meter->lastRead;
            states.push_back(
                {meter->config.id, meter->reads,
                 last == 0 ? std::nullopt : std::optional{Clock::time_point{Clock::duration{last}}},
                 meter->lastFrom});
        }
        return states;
    }

    // --- the loop's thread

    void run()
    {
        // SCHED_BATCH: on a busy machine this thread does not preempt the writer, and answers more
        // displays when it runs.
        const sched_param none{};
        ::sched_setscheduler(0, SCHED_BATCH, &none);
        loop_.run(*this);
    }

private:
    void onWakeUp() override
    {
        std::optional<std::vector<PolledMeter>> meters;
        {
            const std::scoped_lock lock{mutex_};
            meters = std::exchange(newMeters_, std::nullopt);
        }
        if (!meters) return;
        replaceMeters(std::move(*meters));
        for (const auto& [id, display] : displays_) findUnits(*display);
    }

    void replaceMeters(std::vector<PolledMeter> configs)
    {
        const std::scoped_lock lock{mutex_};
        std::vector<std::unique_ptr<Meter>> meters;
        for (PolledMeter& each : configs) {
            const auto same = std::ranges::find_if(
                meters_, [&](const auto& meter) { return meter && meter->config.id == each.id; });
            meters.push_back(same == meters_.end() ? std::make_unique<Meter>() : std::move(*same));
            meters.back()->config = std::move(each);
            meters.back()->version = PublishedReadings::kNoVersion;
        }
        meters_ = std::move(meters);
    }

    // A meter for this display's network takes precedence over one for all displays.
    void findUnits(Display& display) const
    {
        display.units.fill(nullptr);
        for (const bool forAll : {true, false})
            for (const auto& meter : meters_) {
                const auto& only = meter->config.display;
                if (meter->config.listener == display.listener && !only == forAll &&
                    (!only || only->contains(display.address)))
                    display.units.at(meter->config.unit) = meter.get();
            }
    }

    // --- opening and closing

    bool isAllowed(const sockaddr_storage& peer) override
    {
        return std::ranges::any_of(settings_.allow, [address = bytesOf(peer)](const auto& network) {
            return network.contains(address);
        });
    }

    void onConnection(net::AcceptedConnection accepted) override
    {
        // Some displays send the header and the request in two segments and wait for the
        // acknowledgement of the first. Acknowledged at once, the second arrives in time.
        const int on = 1;
        ::setsockopt(accepted.socket, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
        auto display = std::make_unique<Display>(std::move(accepted), loop_.now());
        findUnits(*display);
        loop_.watch(display->socket, display->id, kInput);
        displays_.emplace(display->id, std::move(display));
    }

    // Closes the oldest connection that has never read anything.
    bool makeRoom() override
    {
        Display* oldest = nullptr;
        for (const auto& [id, display] : displays_)
            if (display->requests.counters().reads == 0 &&
                (!oldest || display->lastAnswered < oldest->lastAnswered))
                oldest = display.get();
        if (!oldest) return false;
        loop_.countRejected();
        close(*oldest);
        return true;
    }

    // The display does not exist after this.
    void close(Display& display)
    {
        loop_.clearDeadline(display.id);
        displays_.erase(display.id);
    }

    void onDeadline(std::uint64_t id) override
    {
        ++counters_.broken;
        close(*displays_.at(id));
    }

    void onTick() override
    {
        const Clock::time_point idleSince =
            loop_.now() - std::chrono::milliseconds{settings_.idleTimeoutMs};
        std::erase_if(displays_, [&](const auto& each) {
            if (each.second->lastAnswered >= idleSince) return false;
            loop_.clearDeadline(each.first);
            return true;
        });
    }

    // --- one display

    void onReady(std::uint64_t id, std::uint32_t events) override
    {
        const auto found = displays_.find(id);
        if (found == displays_.end()) return;
        Display& display = *found->second;
        if ((events & (EPOLLHUP | EPOLLERR)) != 0) return close(display);
        if ((events & EPOLLOUT) != 0) {
            if (!flush(display)) return close(display);
            if (!display.wantsWrite) setDeadline(display);
        }
        if ((events & EPOLLIN) == 0) return;
        if (!onReadable(display)) return close(display);
        // No new event follows for input that is left unread, nor for the end of the stream.
        const bool mayHaveMore = !hasReadAll_ || (events & EPOLLRDHUP) != 0;
        if (mayHaveMore && !display.wantsWrite) loop_.repeatEvent(id, events);
    }

    // False: the connection is to be closed.
    bool onReadable(Display& display)
    {
        if (display.wantsWrite) return true;  // first it must receive its answers
        const ssize_t size = ::recv(display.socket, input_.data(), input_.size(), 0);
        hasReadAll_ = size < 0 ? errno != EINTR : size < static_cast<ssize_t>(input_.size());
        if (size < 0) return errno == EAGAIN || errno == EINTR;
        if (size == 0) return false;
        const bool wasInside = display.requests.isInsideFrame();
        const RequestReader::Counters before = display.requests.counters();
        reader_ = &display;
        const bool isModbus = display.requests.handle(
            std::span{input_}.first(static_cast<std::size_t>(size)), *this, display.output);
        const RequestReader::Counters& after = display.requests.counters();
        counters_.reads.fetch_add(after.reads - before.reads, std::memory_order_relaxed);
        counters_.exceptions.fetch_add(after.exceptions - before.exceptions,
                                       std::memory_order_relaxed);
        const bool isAnswered = !display.output.empty();
        if (isAnswered) display.lastAnswered = loop_.now();
        if (!flush(display)) return false;
        if (!isModbus) {
            ++counters_.broken;
            return false;
        }
        if (!wasInside || isAnswered || !display.requests.isInsideFrame()) setDeadline(display);
        return true;
    }

    [[nodiscard]] bool has(std::uint8_t unit) const override { return reader_->units[unit]; }

    const Registers& read(std::uint8_t unit) override
    {
        Meter* const meter = reader_->units[unit];
        const std::size_t pool = meter->config.pool;
        if (readings_.version(pool) != meter->version) {
            meter->reading = readings_.read(pool, &meter->version);
            meter->registers = registersOf(meter->reading, {});
        }
        registers_ = meter->registers;
        registers_[address::kStatus] |=
            statusWordOf(readings_.statusAt(meter->reading, loop_.now()));
        meter->reads.store(meter->reads.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
        meter->lastRead.store(loop_.now().time_since_epoch().count(), std::memory_order_relaxed);
        if (meter->lastConnection != reader_->id) {
            meter->lastConnection = reader_->id;
            const std::scoped_lock lock{mutex_};
            meter->lastFrom = reader_->slot.address();
        }
        return registers_;
    }

    // False: the connection is to be closed.
    bool flush(Display& display)
    {
        std::vector<std::uint8_t>& output = display.output;
        if (output.empty()) return true;
        const ssize_t sent = ::send(display.socket, output.data(), output.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
        output.erase(output.begin(), output.begin() + std::max<ssize_t>(sent, 0));
        if (output.empty() == display.wantsWrite) {
            display.wantsWrite = !display.wantsWrite;
            loop_.changeWatch(display.socket, display.id, display.wantsWrite ? EPOLLOUT : kInput);
        }
        return true;
    }

    // For the display to receive its answers, or to complete a frame that has begun.
    void setDeadline(const Display& display)
    {
        if (display.wantsWrite)
            loop_.setDeadline(display.id, loop_.now() + kWriteTimeout);
        else if (display.requests.isInsideFrame())
            loop_.setDeadline(display.id,
                              loop_.now() + std::chrono::milliseconds{settings_.frameTimeoutMs});
        else
            loop_.clearDeadline(display.id);
    }

    const ServerSettings settings_;
    const PublishedReadings& readings_;
    Counters counters_;
    net::EventLoop loop_;

    mutable std::mutex mutex_;  // guards newMeters_, meters_ and each meter's lastFrom
    std::optional<std::vector<PolledMeter>> newMeters_;
    std::vector<std::unique_ptr<Meter>> meters_;

    // The rest is for the loop's thread only.
    std::unordered_map<std::uint64_t, std::unique_ptr<Display>> displays_;
    std::array<std::uint8_t, kReadAtOnce> input_{};
    bool hasReadAll_ = true;     // the last recv() left nothing in the socket
    Display* reader_ = nullptr;  // the display whose requests are handled
    Registers registers_{};
};

Server::Server(std::unique_ptr<Impl> impl)
    : impl_{std::move(impl)}, thread_{[this] { impl_->run(); }}
{}

Server::~Server() { impl_->stop(); }

Result<std::unique_ptr<Server>> Server::listen(ServerSettings settings,
                                               std::vector<PolledMeter> meters,
                                               const PublishedReadings& readings)
{
    std::vector<int> listeners;
    for (const ServerSettings::Listener& each : settings.listeners) {
        auto socket = each.socket ? Result<int>{*each.socket} : net::listenOn(each.host, each.port);
        if (!socket) {
            for (const int open : listeners) ::close(open);
            return socket.error();
        }
        listeners.push_back(*socket);
    }
    return std::unique_ptr<Server>{new Server{
        std::make_unique<Impl>(std::move(settings), std::move(meters), readings, listeners)}};
}

std::uint16_t Server::port(std::size_t listener) const { return impl_->port(listener); }
const Server::Counters& Server::counters() const { return impl_->counters(); }
void Server::setMeters(std::vector<PolledMeter> meters) { impl_->setMeters(std::move(meters)); }
std::vector<PollState> Server::states() const { return impl_->states(); }

}  // namespace jackpot::meters
