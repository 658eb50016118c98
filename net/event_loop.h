// One epoll loop for a server's listeners and connections. It accepts within limits, calls the
// handler when a descriptor is ready or a deadline has passed, and is woken up by other threads.
//
// A connection is known by its id, which is never used again. Per turn: the events of one
// epoll_wait(), the repeated events, passed deadlines, a tick if one is due, onTurnEnd().
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace jackpot::net {

class EventLoop;

// A per-address limit that is not below the total has no effect of its own.
struct ConnectionLimits {
    std::int64_t total = 0;
    std::int64_t perAddress = 0;
};

// Any thread may read them.
struct ConnectionCounters {
    std::atomic<std::uint64_t> connections{0};  // open now
    std::atomic<std::uint64_t> rejected{0};
};

// Listeners that share limits and counters.
struct ListenerGroup {
    ConnectionLimits limits;
    ConnectionCounters& counters;
    std::int64_t open = 0;
};

// A connection's place within the limits. Its destruction makes room for another connection.
class ConnectionSlot {
public:
    ConnectionSlot(EventLoop& loop, ListenerGroup& group, std::string address);
    ConnectionSlot(ConnectionSlot&& other) noexcept;
    ConnectionSlot& operator=(ConnectionSlot&&) = delete;
    ~ConnectionSlot();

    [[nodiscard]] const std::string& address() const { return address_; }

private:
    EventLoop* loop_;
    ListenerGroup* group_;
    std::string address_;
};

struct AcceptedConnection {
    std::uint64_t id = 0;
    int socket = -1;  // non-blocking, TCP_NODELAY; the handler closes it
    std::size_t listener = 0;
    sockaddr_storage peer{};
    ConnectionSlot slot;
};

// Called in the loop's thread.
class EventHandler {
public:
    // False rejects a client before it is accepted against the limits.
    virtual bool isAllowed(const sockaddr_storage&) { return true; }
    // The loop's own total limit is reached: true if the handler has closed a connection to make
    // room.
    virtual bool makeRoom() = 0;
    virtual void onRejected(const std::string& /*address*/) {}
    // The handler watches the socket from here on, with the connection's id.
    virtual void onConnection(AcceptedConnection connection) = 0;

    // `events` are epoll's. The connection may be closed already.
    virtual void onReady(std::uint64_t connection, std::uint32_t events) = 0;
    virtual void onDeadline(std::uint64_t /*connection*/) {}
    virtual void onWakeUp() = 0;
    virtual void onTick() {}
    virtual void onTurnEnd() {}

protected:
    ~EventHandler() = default;
};

// All functions are for the thread that calls run(), or for any thread before run(), except those
// marked "any thread".
class EventLoop {
public:
    using Clock = std::chrono::steady_clock;

    // `counters` outlive the loop.
    EventLoop(std::chrono::milliseconds tick, const ConnectionLimits& limits,
              ConnectionCounters& counters);
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;
    ~EventLoop();

    // Takes ownership of listening sockets, which are numbered from 0.
    void addListener(int socket) { addListener(socket, groups_.front()); }
    // With limits and counters of its own; a connection above the total limit is rejected.
    void addListener(int socket, const ConnectionLimits& limits, ConnectionCounters& counters)
    {
        addListener(socket, groups_.emplace_back(limits, counters));
    }
    void stopAccepting();
    // Of the listeners without limits of their own.
    void setLimits(const ConnectionLimits& limits) { groups_.front().limits = limits; }
    // Any thread.
    [[nodiscard]] std::uint16_t port(std::size_t listener = 0) const;

    // Until stop().
    void run(EventHandler& handler);
    // Any thread.
    void stop();
    void wakeUp() const;

    // The time after the last epoll_wait().
    [[nodiscard]] Clock::time_point now() const { return now_; }

    void watch(int socket, std::uint64_t connection, std::uint32_t events) const;
    void changeWatch(int socket, std::uint64_t connection, std::uint32_t events) const;
    // Calls onReady() again in this turn or the next one, after the other connections. For input
    // that epoll does not report: bytes that OpenSSL holds, or that an edge-triggered event left.
    void repeatEvent(std::uint64_t connection, std::uint32_t events);

    // One deadline per connection. It is removed before onDeadline() is called.
    void setDeadline(std::uint64_t connection, Clock::time_point deadline);
    void clearDeadline(std::uint64_t connection) { deadlines_.erase(connection); }

    void countRejected() { ++groups_.front().counters.rejected; }

private:
    friend class ConnectionSlot;

    struct Listener {
        int socket = -1;
        ListenerGroup* group = nullptr;
    };
    struct Repeated {
        std::uint64_t connection = 0;
        std::uint32_t events = 0;
    };

    [[nodiscard]] int waitMs(Clock::time_point now) const;
    void dispatch(EventHandler& handler, std::uint64_t id, std::uint32_t events);
    void addListener(int socket, ListenerGroup& group);
    void accept(EventHandler& handler, std::size_t listener);
    void admit(EventHandler& handler, std::size_t listener, int socket,
               const sockaddr_storage& peer);
    [[nodiscard]] bool hasRoom(EventHandler& handler, const ListenerGroup& group,
                               const std::string& address);
    void repeatEvents(EventHandler& handler);
    void expireDeadlines(EventHandler& handler, Clock::time_point now);
    void watchListeners(std::uint32_t events) const;
    void control(int operation, int descriptor, std::uint64_t id, std::uint32_t events) const;

    const std::chrono::milliseconds tick_;
    std::deque<ListenerGroup> groups_;  // the loop's own, then those of single listeners
    const int epoll_;
    const int wakeUp_;
    std::atomic<bool> isStopped_{false};

    std::vector<Listener> listeners_;
    bool isAccepting_ = true;
    bool isOutOfDescriptors_ = false;
    std::unordered_map<std::string, std::int64_t> perAddress_;
    std::uint64_t nextId_;

    Clock::time_point now_ = Clock::now();
    Clock::time_point nextTick_ = now_;
    std::unordered_map<std::uint64_t, Clock::time_point> deadlines_;
    Clock::time_point earliestDeadline_ = Clock::time_point::max();  // or earlier than the earliest
    std::vector<std::uint64_t> expired_;
    std::vector<Repeated> repeated_;
    std::vector<Repeated> repeating_;
};

}  // namespace jackpot::net
