#include "net/event_loop.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <utility>

#include "net/socket.h"

namespace jackpot::net {
namespace {

constexpr int kEventsAtOnce = 256;
constexpr int kAcceptsAtOnce = 16;  // then the events of accepted connections are next
// Ids of what is not a connection.
constexpr std::uint64_t kWakeUp = 0;
constexpr std::uint64_t kFirstListener = 1;
constexpr std::uint64_t kFirstConnection = 1'000;

}  // namespace

ConnectionSlot::ConnectionSlot(EventLoop& loop, ListenerGroup& group, std::string address)
    : loop_{&loop}, group_{&group}, address_{std::move(address)}
{
    ++loop_->perAddress_[address_];
    group_->counters.connections = static_cast<std::uint64_t>(++group_->open);
}

ConnectionSlot::ConnectionSlot(ConnectionSlot&& other) noexcept
    : loop_{std::exchange(other.loop_, nullptr)},
      group_{other.group_},
      address_{std::move(other.address_)}
{}

ConnectionSlot::~ConnectionSlot()
{
    if (!loop_) return;
    const auto count = loop_->perAddress_.find(address_);
    if (count != loop_->perAddress_.end() && --count->second == 0) loop_->perAddress_.erase(count);
    group_->counters.connections = static_cast<std::uint64_t>(--group_->open);
}

EventLoop::EventLoop(std::chrono::milliseconds tick, const ConnectionLimits& limits,
                     ConnectionCounters& counters)
    : tick_{tick},
      epoll_{::epoll_create1(EPOLL_CLOEXEC)},
      wakeUp_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)},
      nextId_{kFirstConnection}
{
    if (epoll_ < 0 || wakeUp_ < 0) throw std::bad_alloc{};
    groups_.emplace_back(limits, counters);
    control(EPOLL_CTL_ADD, wakeUp_, kWakeUp, EPOLLIN);
}

EventLoop::~EventLoop()
{
    for (const Listener& listener : listeners_) ::close(listener.socket);
    ::close(epoll_);
    ::close(wakeUp_);
}

void EventLoop::addListener(int socket, ListenerGroup& group)
{
    listeners_.push_back({socket, &group});
    control(EPOLL_CTL_ADD, socket, kFirstListener + listeners_.size() - 1, EPOLLIN);
}

void EventLoop::stopAccepting()
{
    isAccepting_ = false;
    watchListeners(0);
}

std::uint16_t EventLoop::port(std::size_t listener) const
{
    return portOf(listeners_.at(listener).socket);
}

void EventLoop::run(EventHandler& handler)
{
    std::array<epoll_event, kEventsAtOnce> events{};
    while (!isStopped_) {
        // Input that arrived before this moment is handled before a deadline counts as passed.
        const Clock::time_point before = Clock::now();
        const int count = ::epoll_wait(epoll_, events.data(), kEventsAtOnce, waitMs(before));
        now_ = Clock::now();
        for (int i = 0; i < count; ++i) {
            const epoll_event& event = events[static_cast<std::size_t>(i)];
            dispatch(handler, event.data.u64, event.events);
        }
        repeatEvents(handler);
        expireDeadlines(handler, before);
        if (now_ >= nextTick_) {
            nextTick_ = now_ + tick_;
            if (std::exchange(isOutOfDescriptors_, false) && isAccepting_) watchListeners(EPOLLIN);
            handler.onTick();
        }
        handler.onTurnEnd();
    }
}

void EventLoop::stop()
{
    isStopped_ = true;
    wakeUp();
}

void EventLoop::wakeUp() const
{
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wakeUp_, &one, sizeof one);
}

int EventLoop::waitMs(Clock::time_point now) const
{
    if (!repeated_.empty()) return 0;
    const auto wait =
        std::chrono::ceil<std::chrono::milliseconds>(std::min(nextTick_, earliestDeadline_) - now);
    return static_cast<int>(std::max<std::int64_t>(wait.count(), 0));
}

void EventLoop::dispatch(EventHandler& handler, std::uint64_t id, std::uint32_t events)
{
    if (id >= kFirstConnection) return handler.onReady(id, events);
    if (id != kWakeUp) return accept(handler, id - kFirstListener);
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(wakeUp_, &count, sizeof count);
    handler.onWakeUp();
}

void EventLoop::accept(EventHandler& handler, std::size_t listener)
{
    for (int i = 0; i < kAcceptsAtOnce && isAccepting_; ++i) {
        sockaddr_storage peer{};
        socklen_t size = sizeof peer;
        const int socket =
            ::accept4(listeners_[listener].socket, reinterpret_cast<sockaddr*>(&peer), &size,
                      SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket < 0) {
            // Level-triggered epoll would report the waiting clients in a busy loop until
            // descriptors are free: try again at the next tick.
            if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
                isOutOfDescriptors_ = true;
                watchListeners(0);
            }
            return;
        }
        admit(handler, listener, socket, peer);
    }
}

void EventLoop::admit(EventHandler& handler, std::size_t listener, int socket,
                      const sockaddr_storage& peer)
{
    ListenerGroup& group = *listeners_[listener].group;
    std::string address = addressOf(peer);
    if (!handler.isAllowed(peer) || !hasRoom(handler, group, address)) {
        ++group.counters.rejected;  // before the client can see the end of its connection
        ::close(socket);
        return handler.onRejected(address);
    }
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    handler.onConnection({nextId_++, socket, listener, peer, {*this, group, std::move(address)}});
}

bool EventLoop::hasRoom(EventHandler& handler, const ListenerGroup& group,
                        const std::string& address)
{
    if (group.limits.perAddress < group.limits.total) {
        const auto count = perAddress_.find(address);
        if (count != perAddress_.end() && count->second >= group.limits.perAddress) return false;
    }
    if (group.open < group.limits.total) return true;
    return &group == &groups_.front() && handler.makeRoom();
}

void EventLoop::watch(int socket, std::uint64_t connection, std::uint32_t events) const
{
    control(EPOLL_CTL_ADD, socket, connection, events);
}

void EventLoop::changeWatch(int socket, std::uint64_t connection, std::uint32_t events) const
{
    control(EPOLL_CTL_MOD, socket, connection, events);
}

void EventLoop::repeatEvent(std::uint64_t connection, std::uint32_t events)
{
    repeated_.push_back({connection, events});
}

void EventLoop::repeatEvents(EventHandler& handler)
{
    if (repeated_.empty()) return;
    repeating_.swap(repeated_);
    for (const Repeated& each : repeating_) handler.onReady(each.connection, each.events);
    repeating_.clear();
}

void EventLoop::setDeadline(std::uint64_t connection, Clock::time_point deadline)
{
    deadlines_[connection] = deadline;
    earliestDeadline_ = std::min(earliestDeadline_, deadline);
}

void EventLoop::expireDeadlines(EventHandler& handler, Clock::time_point now)
{
    if (now < earliestDeadline_) return;
    earliestDeadline_ = Clock::time_point::max();
    expired_.clear();
    for (const auto& [connection, deadline] : deadlines_) {
        if (deadline <= now)
            expired_.push_back(connection);
        else
            earliestDeadline_ = std::min(earliestDeadline_, deadline);
    }
    for (const std::uint64_t connection : expired_)
        if (deadlines_.erase(connection) > 0) handler.onDeadline(connection);
}

void EventLoop::watchListeners(std::uint32_t events) const
{
    for (std::size_t i = 0; i < listeners_.size(); ++i)
        control(EPOLL_CTL_MOD, listeners_[i].socket, kFirstListener + i, events);
}

void EventLoop::control(int operation, int descriptor, std::uint64_t id, std::uint32_t events) const
{
    epoll_event event{};
    event.events = events;
    event.data.u64 = id;
    ::epoll_ctl(epoll_, operation, descriptor, &event);
}

}  // namespace jackpot::net
