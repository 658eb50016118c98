#include "meters/modbus_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "meters/modbus_codec.h"
#include "net/socket.h"

namespace jackpot::meters {
namespace {

constexpr int kEventsAtOnce = 256;
// Told once of each arrival: a display that has been answered is not looked at again for nothing.
constexpr std::uint32_t kIn = EPOLLIN | EPOLLRDHUP | EPOLLET;
constexpr std::size_t kReadAtOnce = 4096;  // of one display, before the next has its turn
constexpr std::chrono::milliseconds kIdleTick{500};
constexpr std::chrono::milliseconds kDrain{1000};  // for a display to take its answers
constexpr std::uint64_t kWakeUp = 0;               // then the listeners, then the displays

std::array<std::uint8_t, 16> bytesOf(const sockaddr_storage& address)
{
    std::array<std::uint8_t, 16> bytes{};
    if (address.ss_family == AF_INET6) {
        std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, 16);
    } else {
        bytes[10] = bytes[11] = 0xff;
        std::memcpy(bytes.data() + 12, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, 4);
    }
    return bytes;
}

bool isIn(const Network& network, const std::array<std::uint8_t, 16>& address)
{
    const auto whole = static_cast<std::size_t>(network.prefix / 8);
    const int rest = network.prefix % 8;
    if (!std::equal(address.begin(), address.begin() + static_cast<std::ptrdiff_t>(whole),
                    network.address.begin()))
        return false;
    const auto mask = static_cast<std::uint8_t>(0xff00 >> rest);
    return rest == 0 || ((address.at(whole) ^ network.address.at(whole)) & mask) == 0;
}

// What is known of a meter beyond its configuration. The reads are the server's thread's to count.
struct Meter {
    PolledMeter config;
    std::atomic<std::uint64_t> reads{0};
    std::atomic<Clock::rep> lastRead{0};
    std::uint64_t lastBy = 0;  // the connection; the server's thread's own
    std::string lastFrom;      // under the lock
};

struct Display {
    int socket = -1;
    std::uint64_t id = 0;
    std::size_t listener = 0;
    std::array<std::uint8_t, 16> address{};
    std::string from;
    std::array<Meter*, 256> units{};
    Requests requests;
    std::vector<std::uint8_t> out;  // that could not be sent yet
    bool wantsWrite = false;
    Clock::time_point deadline;  // of a frame or its answer, for those under way
    Clock::time_point heard;
};

}  // namespace

class Server::Loop final : private Units {
public:
    Loop(ServerSettings settings, std::vector<PolledMeter> meters, const PublishedPools& board,
         std::vector<int> listeners)
        : settings_{std::move(settings)},
          board_{board},
          listeners_{std::move(listeners)},
          epoll_{::epoll_create1(EPOLL_CLOEXEC)},
          wakeUp_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)},
          nextId_{listeners_.size() + 1}
    {
        if (epoll_ < 0 || wakeUp_ < 0) throw std::bad_alloc{};
        takeMeters(std::move(meters));
        watch(wakeUp_, kWakeUp, EPOLLIN, EPOLL_CTL_ADD);
        for (std::size_t i = 0; i < listeners_.size(); ++i)
            watch(listeners_[i], i + 1, EPOLLIN, EPOLL_CTL_ADD);
    }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    ~Loop()
    {
        for (const auto& [id, display] : displays_) ::close(display->socket);
        for (const int each : listeners_) ::close(each);
        ::close(epoll_);
        ::close(wakeUp_);
    }

    [[nodiscard]] std::uint16_t port(std::size_t listener) const
    {
        return net::portOf(listeners_.at(listener));
    }
    [[nodiscard]] const Counters& counters() const { return counters_; }

    // --- any thread

    void stop()
    {
        over_ = true;
        wake();
    }
    void setMeters(std::vector<PolledMeter> meters)
    {
        {
            const std::scoped_lock lock{mutex_};
            wanted_ = std::move(meters);
        }
        wake();
    }
    std::vector<PollState> states()
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

    // --- its own thread

    void run()
    {
        // On a busy machine it does not interrupt who decides wagers, and finds more to answer when
        // its turn comes.
        const sched_param none{};
        ::sched_setscheduler(0, SCHED_BATCH, &none);
        std::array<epoll_event, kEventsAtOnce> events{};
        Clock::time_point tick = Clock::now();
        while (!over_) {
            // What had come by now is looked at before anything is called late.
            const Clock::time_point before = Clock::now();
            const int count = ::epoll_wait(epoll_, events.data(), kEventsAtOnce, waitMs(before));
            now_ = Clock::now();
            for (int i = 0; i < count; ++i)
                serve(events[static_cast<std::size_t>(i)].data.u64,
                      events[static_cast<std::size_t>(i)].events);
            leaveLate(before);
            if (before - tick >= kIdleTick) {
                leaveIdle(before);
                for (std::size_t i = 0; i < listeners_.size(); ++i)
                    watch(listeners_[i], i + 1, EPOLLIN, EPOLL_CTL_MOD);
                tick = before;
            }
        }
    }

private:
    // Until the next deadline, or the next look at who is idle.
    [[nodiscard]] int waitMs(Clock::time_point now) const
    {
        auto wait = kIdleTick;
        for (const std::uint64_t id : underWay_)
            wait = std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(
                                      displays_.at(id)->deadline - now));
        return static_cast<int>(std::max<std::int64_t>(wait.count(), 0));
    }
    void wake() const
    {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(wakeUp_, &one, sizeof one);
    }
    void watch(int descriptor, std::uint64_t id, std::uint32_t events, int how) const
    {
        epoll_event event{};
        event.events = events;
        event.data.u64 = id;
        ::epoll_ctl(epoll_, how, descriptor, &event);
    }

    void serve(std::uint64_t id, std::uint32_t events)
    {
        if (id == kWakeUp) return heed();
        if (id <= listeners_.size()) return accept(id - 1);
        const auto found = displays_.find(id);
        if (found == displays_.end()) return;
        Display& display = *found->second;
        if ((events & (EPOLLHUP | EPOLLERR)) != 0) return drop(display);
        if ((events & EPOLLOUT) != 0) {
            if (!flush(display)) return drop(display);
            if (!display.wantsWrite) setDeadline(display);
        }
        if ((events & EPOLLIN) == 0) return;
        if (!hear(display)) return drop(display);
        // More than one look takes, or the end after what was read: nothing new will say so.
        if (heardAll_ && (events & EPOLLRDHUP) == 0) return;
        if (!display.wantsWrite) watch(display.socket, display.id, kIn, EPOLL_CTL_MOD);
    }

    void heed()
    {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto read = ::read(wakeUp_, &count, sizeof count);
        std::optional<std::vector<PolledMeter>> wanted;
        {
            const std::scoped_lock lock{mutex_};
            wanted = std::exchange(wanted_, std::nullopt);
        }
        if (!wanted) return;
        takeMeters(std::move(*wanted));
        for (const auto& [id, display] : displays_) findUnits(*display);
    }

    void takeMeters(std::vector<PolledMeter> wanted)
    {
        const std::scoped_lock lock{mutex_};
        std::vector<std::unique_ptr<Meter>> meters;
        for (PolledMeter& each : wanted) {
            const auto same = std::ranges::find_if(
                meters_, [&](const auto& meter) { return meter && meter->config.id == each.id; });
            meters.push_back(same == meters_.end() ? std::make_unique<Meter>() : std::move(*same));
            meters.back()->config = std::move(each);
        }
        meters_ = std::move(meters);
    }

    // A unit for this very display comes before one for any.
    void findUnits(Display& display) const
    {
        display.units.fill(nullptr);
        for (const bool forAny : {true, false})
            for (const auto& meter : meters_) {
                const auto& only = meter->config.display;
                if (meter->config.listener == display.listener && !only == forAny &&
                    (!only || isIn(*only, display.address)))
                    display.units.at(meter->config.unit) = meter.get();
            }
    }

    // --- coming and going

    void accept(std::size_t listener)
    {
        // A few at a time, so that a crowd of strangers does not hold up those who are there.
        for (int i = 0; i < 16; ++i) {
            sockaddr_storage address{};
            socklen_t size = sizeof address;
            const int socket =
                ::accept4(listeners_[listener], reinterpret_cast<sockaddr*>(&address), &size,
                          SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (socket < 0) {
                // Out of descriptors: not again before the next tick.
                if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                    watch(listeners_[listener], listener + 1, 0, EPOLL_CTL_MOD);
                return;
            }
            admit(socket, listener, address);
        }
    }

    void admit(int socket, std::size_t listener, const sockaddr_storage& address)
    {
        auto display = std::make_unique<Display>();
        display->socket = socket;
        display->listener = listener;
        display->address = bytesOf(address);
        display->from = net::addressOf(address);
        display->heard = now_;
        const bool isAllowed = std::ranges::any_of(
            settings_.allow, [&](const Network& each) { return isIn(each, display->address); });
        if (!isAllowed || perAddress_[display->from] >= settings_.maxDisplaysPerAddress ||
            !makeRoom()) {
            ++counters_.strangers;
            if (perAddress_[display->from] == 0) perAddress_.erase(display->from);
            ::close(socket);
            return;
        }
        const int on = 1;
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        // A display that sends header and question apart waits for our acknowledgement of the
        // first; sent at once, the second is not late.
        ::setsockopt(socket, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
        ++perAddress_[display->from];
        display->id = nextId_++;
        findUnits(*display);
        watch(socket, display->id, kIn, EPOLL_CTL_ADD);
        displays_.emplace(display->id, std::move(display));
        counters_.displays = displays_.size();
    }

    // Who has never read anything gives way to a newcomer, whoever was silent longest first.
    bool makeRoom()
    {
        if (static_cast<std::int64_t>(displays_.size()) < settings_.maxDisplays) return true;
        Display* longest = nullptr;
        for (const auto& [id, display] : displays_)
            if (display->requests.counters().reads == 0 &&
                (!longest || display->heard < longest->heard))
                longest = display.get();
        if (!longest) return false;
        ++counters_.strangers;
        drop(*longest);
        return true;
    }

    // The display is gone after this.
    void drop(Display& display)
    {
        const auto count = perAddress_.find(display.from);
        if (count != perAddress_.end() && --count->second == 0) perAddress_.erase(count);
        ::close(display.socket);
        underWay_.erase(display.id);
        displays_.erase(display.id);
        counters_.displays = displays_.size();
    }

    void leaveLate(Clock::time_point before)
    {
        late_.clear();
        for (const std::uint64_t id : underWay_)
            if (displays_.at(id)->deadline <= before) late_.push_back(id);
        for (const std::uint64_t id : late_) {
            ++counters_.broken;
            drop(*displays_.at(id));
        }
    }

    void leaveIdle(Clock::time_point before)
    {
        late_.clear();
        const std::chrono::milliseconds most{settings_.idleTimeoutMs};
        for (const auto& [id, display] : displays_)
            if (before - display->heard > most) late_.push_back(id);
        for (const std::uint64_t id : late_) drop(*displays_.at(id));
    }

    // --- one display; false: it is to be left

    bool hear(Display& display)
    {
        if (display.wantsWrite) return true;  // it has answers to take first
        const ssize_t size = ::recv(display.socket, in_.data(), in_.size(), 0);
        heardAll_ = size < 0 ? errno != EINTR : size < static_cast<ssize_t>(in_.size());
        if (size < 0) return errno == EAGAIN || errno == EINTR;
        if (size == 0) return false;
        const bool wasInside = display.requests.isInsideFrame();
        const Requests::Counters counted = display.requests.counters();
        reader_ = &display;
        const bool isModbus = display.requests.take(
            std::span{in_}.first(static_cast<std::size_t>(size)), *this, display.out);
        const Requests::Counters& now = display.requests.counters();
        counters_.reads.fetch_add(now.reads - counted.reads, std::memory_order_relaxed);
        counters_.exceptions.fetch_add(now.exceptions - counted.exceptions,
                                       std::memory_order_relaxed);
        const bool answered = !display.out.empty();
        if (answered) display.heard = now_;
        if (!flush(display)) return false;
        if (!isModbus) {
            ++counters_.broken;
            return false;
        }
        if (!wasInside || answered || !display.requests.isInsideFrame()) setDeadline(display);
        return true;
    }

    [[nodiscard]] bool has(std::uint8_t unit) const override { return reader_->units[unit]; }

    const Registers& read(std::uint8_t unit) override
    {
        Meter* const meter = reader_->units[unit];
        registers_ = board_.read(meter->config.pool, now_);
        meter->reads.store(meter->reads.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
        meter->lastRead.store(now_.time_since_epoch().count(), std::memory_order_relaxed);
        if (meter->lastBy != reader_->id) {
            meter->lastBy = reader_->id;
            const std::scoped_lock lock{mutex_};
            meter->lastFrom = reader_->from;
        }
        return registers_;
    }

    bool flush(Display& display)
    {
        if (display.out.empty()) return true;
        const ssize_t sent =
            ::send(display.socket, display.out.data(), display.out.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
        const auto size = static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
        display.out.erase(display.out.begin(),
                          display.out.begin() + static_cast<std::ptrdiff_t>(size));
        if (display.out.empty() == display.wantsWrite) {
            display.wantsWrite = !display.wantsWrite;
            watch(display.socket, display.id, display.wantsWrite ? EPOLLOUT : kIn, EPOLL_CTL_MOD);
        }
        return true;
    }

    // Answers are to be taken in time, and each frame has its own time to be completed in.
    void setDeadline(Display& display)
    {
        const std::chrono::milliseconds most =
            display.wantsWrite ? kDrain : std::chrono::milliseconds{settings_.frameTimeoutMs};
        display.deadline = now_ + most;
        if (display.wantsWrite || display.requests.isInsideFrame())
            underWay_.insert(display.id);
        else
            underWay_.erase(display.id);
    }

    ServerSettings settings_;
    const PublishedPools& board_;
    std::vector<int> listeners_;
    int epoll_;
    int wakeUp_;
    Counters counters_;
    std::atomic<bool> over_{false};

    mutable std::mutex mutex_;  // for wanted_, meters_ and each meter's lastFrom
    std::optional<std::vector<PolledMeter>> wanted_;
    std::vector<std::unique_ptr<Meter>> meters_;

    // Its own thread's.
    Clock::time_point now_ = Clock::now();
    std::unordered_map<std::uint64_t, std::unique_ptr<Display>> displays_;
    std::unordered_map<std::string, std::int64_t> perAddress_;
    std::unordered_set<std::uint64_t> underWay_;  // those with a deadline
    std::vector<std::uint64_t> late_;
    std::uint64_t nextId_;
    std::array<std::uint8_t, kReadAtOnce> in_{};
    bool heardAll_ = true;
    Display* reader_ = nullptr;
    Registers registers_{};
};

Server::Server(std::unique_ptr<Loop> loop)
    : loop_{std::move(loop)}, thread_{[this] { loop_->run(); }}
{}

Server::~Server() { loop_->stop(); }

Result<std::unique_ptr<Server>> Server::listen(ServerSettings settings,
                                               std::vector<PolledMeter> meters,
                                               const PublishedPools& board)
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
    return std::unique_ptr<Server>{new Server{std::make_unique<Loop>(
        std::move(settings), std::move(meters), board, std::move(listeners))}};
}

std::uint16_t Server::port(std::size_t listener) const { return loop_->port(listener); }
const Server::Counters& Server::counters() const { return loop_->counters(); }
void Server::setMeters(std::vector<PolledMeter> meters) { loop_->setMeters(std::move(meters)); }
std::vector<PollState> Server::states() const { return loop_->states(); }

}  // namespace jackpot::meters
