#include "linkproto/server/link_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "linkproto/frame.h"
#include "linkproto/server/table_certificate.h"
#include "net/socket.h"

namespace jackpot::linkproto {
namespace {

using Progress = net::TlsStream::Progress;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kTickMs = 100;
constexpr std::int64_t kStrangersMs = 60'000;
constexpr std::int64_t kGoodbyeMs = 500;         // for a peer to read why it is being left
constexpr std::size_t kReadAtOnce = 16U << 10U;  // of one connection, before the next has its turn
constexpr std::size_t kMaxUnread = 256U << 10U;  // what a peer may leave unread
constexpr std::size_t kMaxDecisionsBytes = 12U << 10U;  // then the next go into another frame
constexpr int kEventsAtOnce = 256;
constexpr std::size_t kMaxIncoming = 1024;  // heard and not taken; then nothing more is read
// These are no connections.
constexpr std::uint64_t kListener = 0;
constexpr std::uint64_t kWakeUp = 1;

std::int64_t nowMs()
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch())
        .count();
}

struct Connection {
    enum class Stage : std::uint8_t { Handshake, Hello, Welcome, Open, Leaving };

    Connection(std::uint64_t itsId, std::string itsAddress, net::TlsStream itsStream,
               std::int64_t deadline)
        : id{itsId},
          address{std::move(itsAddress)},
          stream{std::move(itsStream)},
          deadlineMs{deadline}
    {}

    std::uint64_t id;
    std::string address;
    net::TlsStream stream;
    Stage stage = Stage::Handshake;
    std::uint32_t table = 0;  // from Hello on
    FrameReader frames;
    std::string out;
    v1::Decisions decisions;  // that wait for the end of a delivery
    std::size_t decisionsBytes = 0;
    std::size_t inFlight = 0;
    std::int64_t deadlineMs;  // of the stage, or of a frame that has begun; 0 for none
    std::int64_t heardMs = 0;
    std::int64_t saidMs = 0;
    bool wantsWrite = false;  // as epoll knows it
    bool stalled = false;     // not read, because there is no room for what it says
};

}  // namespace

class Server::Loop {
public:
    Loop(const ServerSettings& settings, net::TlsContext tls, std::vector<std::string> tables,
         Pseudonym pseudonym, Post post, int listener)
        : settings_{settings},
          tls_{std::move(tls)},
          pseudonym_{std::move(pseudonym)},
          post_{std::move(post)},
          listener_{listener},
          port_{net::portOf(listener)},
          epoll_{::epoll_create1(EPOLL_CLOEXEC)},
          wakeUp_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)}
    {
        if (epoll_ < 0 || wakeUp_ < 0) throw std::bad_alloc{};
        takeTables(std::move(tables));
        watch(listener_, kListener, EPOLLIN, EPOLL_CTL_ADD);
        watch(wakeUp_, kWakeUp, EPOLLIN, EPOLL_CTL_ADD);
    }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    ~Loop()
    {
        connections_.clear();
        for (const int each : {listener_, epoll_, wakeUp_}) ::close(each);
    }

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] const Counters& counters() const { return counters_; }

    // --- any thread ---------------------------------------------------------------------------

    void enqueue(std::function<void(Loop&)> work)
    {
        {
            const std::scoped_lock lock{mutex_};
            works_.push_back(std::move(work));
        }
        wake();
    }
    void enqueue(Delivery delivery)
    {
        bool wasEmpty = false;
        {
            const std::scoped_lock lock{mutex_};
            wasEmpty = deliveries_.empty();
            deliveries_.push_back(std::move(delivery));
        }
        if (wasEmpty) wake();
    }

    // --- its own thread -----------------------------------------------------------------------

    void run()
    {
        std::array<epoll_event, kEventsAtOnce> events{};
        std::int64_t tickMs = nowMs() + kTickMs;
        while (!over_) {
            const auto wait =
                static_cast<int>(again_.empty() ? std::max<std::int64_t>(tickMs - nowMs(), 0) : 0);
            const int count = ::epoll_wait(epoll_, events.data(), kEventsAtOnce, wait);
            now_ = nowMs();
            for (int i = 0; i < count; ++i) {
                const epoll_event& event = events.at(static_cast<std::size_t>(i));
                if (event.data.u64 == kListener)
                    accept();
                else if (event.data.u64 == kWakeUp)
                    heed();
                else if (Connection* connection = find(event.data.u64))
                    serve(*connection, event.events);
            }
            for (const std::uint64_t id : std::exchange(again_, {}))
                if (Connection* connection = find(id)) serve(*connection, EPOLLIN);
            if (now_ >= tickMs) {
                tick();
                tickMs = now_ + kTickMs;
            }
            postAll();
            flushAll();
            dropGone();
        }
    }

    void takeTables(std::vector<std::string> tables)
    {
        tableIds_ = std::move(tables);
        tableIndex_.clear();
        for (std::uint32_t i = 0; i < tableIds_.size(); ++i) tableIndex_[tableIds_[i]] = i;
        tables_.resize(tableIds_.size(), {0, nowMs(), false});
    }
    void takeTls(net::TlsContext tls)
    {
        tls_ = std::move(tls);
        // Who is there already may have been revoked.
        for (auto& [id, connection] : connections_) {
            if (connection->stage <= Connection::Stage::Hello) continue;
            const auto checked = connection->stream.verifyPeer(tls_);
            if (checked) continue;
            stranger(connection->address + ": " + checked.error().message);
            leave(*connection, v1::Goodbye::NOT_A_TABLE, checked.error().message);
        }
    }
    void takeLimits(const ServerSettings& settings)
    {
        settings_.maxConnections = settings.maxConnections;
        settings_.maxConnectionsPerAddress = settings.maxConnectionsPerAddress;
        settings_.offlineAfterMs = settings.offlineAfterMs;
    }
    void sayGoodbye(v1::Goodbye::Why why, const std::string& detail)
    {
        watch(listener_, kListener, 0, EPOLL_CTL_MOD);
        for (auto& [id, connection] : connections_) leave(*connection, why, detail);
        stopMs_ = now_ + kGoodbyeMs;
        endIfAllGone();
    }

private:
    struct TableLine {
        std::uint64_t connection = 0;
        std::int64_t heardMs = 0;
        bool saidOffline = false;
    };

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
    void watchAgain(const Connection& connection) const
    {
        const std::uint32_t in = connection.stalled ? 0U : static_cast<std::uint32_t>(EPOLLIN);
        const std::uint32_t out = connection.wantsWrite ? static_cast<std::uint32_t>(EPOLLOUT) : 0U;
        watch(connection.stream.socket(), connection.id, in | out, EPOLL_CTL_MOD);
    }
    Connection* find(std::uint64_t id)
    {
        const auto found = connections_.find(id);
        return found == connections_.end() ? nullptr : found->second.get();
    }

    // --- coming and going

    void accept()
    {
        // A few at a time, so that a crowd of strangers does not hold up those who are there.
        for (int i = 0; i < 16; ++i) {
            sockaddr_storage address{};
            socklen_t size = sizeof address;
            const int socket = ::accept4(listener_, reinterpret_cast<sockaddr*>(&address), &size,
                                         SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (socket < 0) return;
            const int on = 1;
            ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            const std::string from = net::addressOf(address);
            makeRoom();
            if (static_cast<std::int64_t>(connections_.size()) >= settings_.maxConnections ||
                perAddress_[from] >= settings_.maxConnectionsPerAddress) {
                ::close(socket);
                stranger(from + ": too many connections");
                continue;
            }
            ++perAddress_[from];
            const std::uint64_t id = nextId_++;
            auto connection = std::make_unique<Connection>(id, from, net::TlsStream{tls_, socket},
                                                           now_ + settings_.handshakeTimeoutMs);
            watch(socket, id, EPOLLIN, EPOLL_CTL_ADD);
            connections_.emplace(id, std::move(connection));
            newcomers_.push_back(id);
            counters_.connections = connections_.size();
        }
    }

    // Who has not said who it is gives way, the oldest first: strangers keep no table out.
    void makeRoom()
    {
        const auto most = static_cast<std::size_t>(settings_.maxConnections);
        while (!newcomers_.empty()) {
            Connection* const oldest = find(newcomers_.front());
            const bool isStranger = oldest && oldest->stage <= Connection::Stage::Hello;
            if (isStranger && connections_.size() < most) return;
            newcomers_.pop_front();
            if (!isStranger) continue;
            stranger(oldest->address + ": gave way to a newer connection");
            drop(*oldest);
        }
    }

    void stranger(const std::string& why)
    {
        ++counters_.strangers;
        ++strangers_.count;
        strangers_.example = why;
    }

    // The connection is gone after this.
    void drop(Connection& connection)
    {
        if (connection.stage > Connection::Stage::Hello &&
            tables_[connection.table].connection == connection.id)
            tables_[connection.table].connection = 0;
        const auto count = perAddress_.find(connection.address);
        if (count != perAddress_.end() && --count->second == 0) perAddress_.erase(count);
        connection.stream.close();
        connections_.erase(connection.id);
        counters_.connections = connections_.size();
        endIfAllGone();
    }
    void endIfAllGone()
    {
        if (stopMs_ > 0 && connections_.empty()) over_ = true;
    }

    // Tells the peer why and closes when it has been told, or has had time to hear it.
    void leave(Connection& connection, v1::Goodbye::Why why, const std::string& detail)
    {
        if (connection.stage == Connection::Stage::Leaving) return;
        if (connection.stage != Connection::Stage::Handshake) {
            v1::ToTable message;
            message.mutable_goodbye()->set_why(why);
            message.mutable_goodbye()->set_detail(detail.substr(0, kMaxTextBytes));
            appendFrame(connection.out, message);
        }
        if (connection.stage > Connection::Stage::Hello &&
            tables_[connection.table].connection == connection.id)
            tables_[connection.table].connection = 0;
        connection.stage = Connection::Stage::Leaving;
        connection.deadlineMs = now_ + kGoodbyeMs;
        if (!flush(connection)) gone_.push_back(connection.id);
    }

    void dropGone()
    {
        for (const std::uint64_t id : gone_)
            if (Connection* connection = find(id)) drop(*connection);
        gone_.clear();
    }

    // --- one connection

    void serve(Connection& connection, std::uint32_t events)
    {
        bool alive = true;
        if ((events & EPOLLOUT) != 0) alive = flush(connection);
        if (alive && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) alive = hear(connection);
        if (!alive) gone_.push_back(connection.id);
        dropGone();
    }

    bool hear(Connection& connection)
    {
        if (connection.stage == Connection::Stage::Handshake) {
            const Progress progress = connection.stream.handshake();
            if (progress == Progress::WantsWrite) setWantsWrite(connection, true);
            if (progress == Progress::WantsRead || progress == Progress::WantsWrite) return true;
            if (progress != Progress::Done) {
                stranger(connection.address + ": " + connection.stream.error());
                return false;
            }
            connection.stage = Connection::Stage::Hello;
        }
        if (connection.stalled || stallIfFull(connection)) return true;
        std::string& buffer = connection.frames.buffer();
        const Progress progress = connection.stream.read(buffer, kReadAtOnce);
        if (progress == Progress::Closed || progress == Progress::Failed) return false;
        if (connection.stage == Connection::Stage::Leaving) buffer.clear();
        if (progress == Progress::Done) takeFrames(connection);
        if (connection.stream.isPeerClosed()) return false;
        if (connection.stream.hasBufferedInput() && !connection.stalled)
            again_.push_back(connection.id);
        return true;
    }

    void takeFrames(Connection& connection)
    {
        bool any = false;
        while (connection.stage != Connection::Stage::Leaving && !stallIfFull(connection)) {
            const auto frame = connection.frames.next();
            if (!frame) break;
            any = true;
            connection.heardMs = now_;
            if (connection.stage > Connection::Stage::Hello)
                tables_[connection.table].heardMs = now_;
            take(connection, *frame);
        }
        if (connection.frames.fault() != FrameReader::Fault::None)
            bad(connection, connection.frames.fault() == FrameReader::Fault::Empty
                                ? "an empty frame"
                                : "a frame of more than 16384 bytes");
        if (connection.stage <= Connection::Stage::Hello ||
            connection.stage == Connection::Stage::Leaving)
            return;
        // Each frame has its own time; what waits for room in the mailbox is not late.
        if (!connection.frames.isInsideFrame() || connection.stalled)
            connection.deadlineMs = 0;
        else if (any || connection.deadlineMs == 0)
            connection.deadlineMs = now_ + settings_.frameTimeoutMs;
    }

    void bad(Connection& connection, const std::string& what)
    {
        if (connection.stage == Connection::Stage::Leaving) return;
        ++counters_.badFrames;
        if (connection.stage > Connection::Stage::Hello) {
            post(connection, MalformedCommand{what});
        } else {
            stranger(connection.address + ": " + what);
        }
        leave(connection, v1::Goodbye::BAD_FRAME, what);
    }

    void take(Connection& connection, std::string_view frame)
    {
        message_.Clear();
        if (!message_.ParseFromArray(frame.data(), static_cast<int>(frame.size())))
            return bad(connection, "a frame that is no message");
        using Stage = Connection::Stage;
        switch (message_.message_case()) {
            case v1::ToDaemon::kHello:
                if (connection.stage == Stage::Hello)
                    return takeHello(connection, message_.hello());
                return bad(connection, "a second Hello");
            case v1::ToDaemon::kCommand:
                if (connection.stage == Stage::Open) return takeCommand(connection);
                return bad(connection, "a command before the welcome");
            case v1::ToDaemon::kHeartbeat:
                if (connection.stage == Stage::Open)
                    return post(connection, WagerCountReport{message_.heartbeat().wagers(),
                                                             message_.heartbeat().as_of()});
                if (connection.stage == Stage::Welcome) return;
                return bad(connection, "a heartbeat before Hello");
            case v1::ToDaemon::kQuery:
                if (connection.stage == Stage::Open) return post(connection, StateRequest{});
                return bad(connection, "a query before the welcome");
            case v1::ToDaemon::MESSAGE_NOT_SET: break;
        }
        bad(connection, "a message that this version does not know");
    }

    void takeHello(Connection& connection, const v1::Hello& hello)
    {
        const auto id = tableIdOf(connection.stream);
        const auto found = id ? tableIndex_.find(*id) : tableIndex_.end();
        if (!id || found == tableIndex_.end()) {
            const std::string why =
                id ? "there is no table " + id->substr(0, 64) : id.error().message;
            stranger(connection.address + ": " + why);
            return leave(connection, v1::Goodbye::NOT_A_TABLE, why);
        }
        if (hello.version() != kLinkVersion)
            return leave(connection, v1::Goodbye::VERSION,
                         "this daemon speaks version " + std::to_string(kLinkVersion));
        TableLine& line = tables_[found->second];
        if (Connection* other = find(line.connection))
            leave(*other, v1::Goodbye::REPLACED, "a newer connection of this table is there");
        connection.table = found->second;
        connection.stage = Connection::Stage::Welcome;
        connection.deadlineMs = 0;
        line = {connection.id, now_, false};
        post(connection,
             TableConnected{hello.receipt().substr(0, 4096),
                            hello.software().substr(0, kMaxTextBytes), hello.decided()});
    }

    void takeCommand(Connection& connection)
    {
        const v1::Command& message = message_.command();
        if (connection.inFlight >= kMaxInFlight)
            return leave(connection, v1::Goodbye::TOO_MUCH,
                         "more than " + std::to_string(kMaxInFlight) + " commands in flight");
        auto command = readCommand(message, tableIds_[connection.table], pseudonym_);
        if (!command) {
            v1::ToTable answer;
            v1::Rejected& rejected = *answer.mutable_rejected();
            rejected.set_number(message.number());
            rejected.set_why(v1::Rejected::MALFORMED);
            rejected.set_detail(command.error().message);
            say(connection, answer);
            return post(connection, MalformedCommand{command.error().message});
        }
        ++counters_.commands;
        ++connection.inFlight;
        post(connection,
             CommandReceived{std::move(*command), message.number(), message.clock_ms()});
    }

    // What is heard goes on its way when all that can be read has been: the more of it is decided
    // in one commit, the sooner all of it is.
    template <class What>
    void post(const Connection& connection, What what)
    {
        incoming_.push_back({connection.id, connection.table, std::move(what)});
    }

    void postAll()
    {
        if (incoming_.empty()) return;
        const std::size_t taken = post_(incoming_);
        incoming_.erase(incoming_.begin(), incoming_.begin() + static_cast<std::ptrdiff_t>(taken));
        if (!incoming_.empty()) ++counters_.stalls;
    }

    // There is no room for what was heard: whoever has more to say waits, and TCP makes it wait.
    bool stallIfFull(Connection& connection)
    {
        if (incoming_.size() < kMaxIncoming) return false;
        connection.stalled = true;
        watchAgain(connection);
        stalled_.push_back(connection.id);
        return true;
    }

    void resumeStalled()
    {
        if (incoming_.size() >= kMaxIncoming || stalled_.empty()) return;
        for (const std::uint64_t id : std::exchange(stalled_, {})) {
            Connection* const connection = find(id);
            if (!connection) continue;
            connection->stalled = false;
            watchAgain(*connection);
            takeFrames(*connection);  // what was read before it stalled
            if (connection->stream.hasBufferedInput()) again_.push_back(id);
        }
    }

    // --- saying

    void say(Connection& connection, const v1::ToTable& message)
    {
        try {
            appendFrame(connection.out, message);
        } catch (const std::length_error&) {
            // One table's fault must not end the others' link.
            return leave(connection, v1::Goodbye::TOO_MUCH, "an answer of more than a frame");
        }
        toFlush_.push_back(connection.id);
    }

    void setWantsWrite(Connection& connection, bool wants)
    {
        if (connection.wantsWrite == wants) return;
        connection.wantsWrite = wants;
        watchAgain(connection);
    }

    // False where the connection is done with.
    bool flush(Connection& connection)
    {
        if (connection.stage == Connection::Stage::Handshake) {
            setWantsWrite(connection, false);
            return connection.out.empty() ? hear(connection) : false;
        }
        std::string_view rest = connection.out;
        const Progress progress = connection.stream.write(rest);
        connection.saidMs = now_;
        connection.out.erase(0, connection.out.size() - rest.size());
        if (progress == Progress::Closed || progress == Progress::Failed) return false;
        if (connection.out.size() > kMaxUnread) return false;
        setWantsWrite(connection, !connection.out.empty());
        if (connection.out.empty() && connection.out.capacity() > kMaxFrameBytes)
            std::string{}.swap(connection.out);
        if (connection.stage != Connection::Stage::Leaving || !connection.out.empty()) return true;
        connection.stream.close();  // and the peer closes when it has read it, or the deadline does
        return true;
    }

    void heed()
    {
        std::uint64_t ignored = 0;
        [[maybe_unused]] const auto got = ::read(wakeUp_, &ignored, sizeof ignored);
        std::vector<std::function<void(Loop&)>> works;
        std::vector<Delivery> deliveries;
        {
            const std::scoped_lock lock{mutex_};
            works.swap(works_);
            deliveries.swap(deliveries_);
        }
        for (Delivery& delivery : deliveries) deliver(delivery);
        for (const auto& work : works) work(*this);
        postAll();
        resumeStalled();
    }

    void deliver(Delivery& delivery)
    {
        std::vector<std::uint64_t> deciding;
        for (Outgoing& each : delivery.outgoing) {
            const std::uint64_t id =
                each.connection != 0 ? each.connection : tables_[each.table].connection;
            Connection* const connection = find(id);
            if (!connection || connection->stage == Connection::Stage::Leaving) continue;
            if (auto* decided = std::get_if<Decided>(&each.what)) {
                if (connection->decisions.decisions_size() == 0) deciding.push_back(id);
                add(*connection, *decided, delivery.receipt);
                continue;
            }
            const auto& message = std::get<v1::ToTable>(each.what);
            const std::size_t answered =
                message.has_rejected()
                    ? 1
                    : static_cast<std::size_t>(message.decisions().decisions_size());
            connection->inFlight -= std::min(connection->inFlight, answered);
            if (message.has_welcome()) connection->stage = Connection::Stage::Open;
            // News is for those who have been welcomed.
            if (connection->stage != Connection::Stage::Open && !message.has_goodbye()) continue;
            endDecisions(*connection, delivery.receipt);  // the order of what happened is kept
            say(*connection, message);
            if (message.has_goodbye()) {
                connection->stage = Connection::Stage::Leaving;
                connection->deadlineMs = now_ + kGoodbyeMs;
            }
        }
        for (const std::uint64_t id : deciding)
            if (Connection* connection = find(id)) endDecisions(*connection, delivery.receipt);
    }

    void add(Connection& connection, Decided& decided, const v1::Receipt& receipt)
    {
        if (connection.inFlight > 0) --connection.inFlight;
        const std::size_t bytes = decided.details ? decided.details->ByteSizeLong() + 24 : 24;
        if (connection.decisionsBytes + bytes > kMaxDecisionsBytes)
            endDecisions(connection, receipt);
        connection.decisionsBytes += bytes;
        v1::Decision& decision = *connection.decisions.add_decisions();
        if (decided.details) decision.Swap(decided.details.get());
        decision.set_number(decided.number);
        decision.set_record(decided.record);
        decision.set_displayed_cents(decided.displayedCents);
    }

    void endDecisions(Connection& connection, const v1::Receipt& receipt)
    {
        if (connection.decisions.decisions_size() == 0) return;
        *connection.decisions.mutable_receipt() = receipt;
        v1::ToTable message;
        message.mutable_decisions()->Swap(&connection.decisions);
        say(connection, message);
        message.mutable_decisions()->Swap(&connection.decisions);  // its memory is used again
        connection.decisions.Clear();
        connection.decisionsBytes = 0;
    }

    void flushAll()
    {
        for (const std::uint64_t id : toFlush_) {
            Connection* const connection = find(id);
            if (!connection || connection->out.empty()) continue;
            const bool goesOn =
                connection->wantsWrite ? connection->out.size() <= kMaxUnread : flush(*connection);
            if (!goesOn) gone_.push_back(id);
        }
        toFlush_.clear();
    }

    // --- time

    void tick()
    {
        for (auto& [id, each] : connections_) {
            Connection& connection = *each;
            if (connection.deadlineMs > 0 && now_ >= connection.deadlineMs)
                late(connection);
            else if (connection.stage >= Connection::Stage::Welcome &&
                     connection.stage != Connection::Stage::Leaving && !connection.stalled &&
                     now_ - connection.heardMs >= settings_.offlineAfterMs)
                leave(connection, v1::Goodbye::SILENT, "nothing was heard for too long");
            else if (connection.stage == Connection::Stage::Open &&
                     now_ - connection.saidMs >= kHeartbeatMs && connection.out.empty())
                beat(connection);
        }
        sayWhoIsOffline();
        if (strangers_.count > 0 && now_ >= strangersMs_) {
            incoming_.push_back({0, 0, std::exchange(strangers_, {})});
            strangersMs_ = now_ + kStrangersMs;
        }
        if (stopMs_ > 0 && now_ >= stopMs_) over_ = true;
        postAll();
        resumeStalled();
    }

    void late(Connection& connection)
    {
        if (connection.stage == Connection::Stage::Leaving) {
            gone_.push_back(connection.id);
        } else if (connection.stage <= Connection::Stage::Hello) {
            stranger(connection.address + ": it did not say who it is in time");
            gone_.push_back(connection.id);
        } else {
            connection.deadlineMs = 0;
            bad(connection, "a frame that was not finished in time");
        }
    }

    void beat(Connection& connection)
    {
        v1::ToTable message;
        message.mutable_heartbeat()->set_clock_ms(
            std::chrono::duration_cast<std::chrono::milliseconds>(
                std::chrono::system_clock::now().time_since_epoch())
                .count());
        say(connection, message);
    }

    void sayWhoIsOffline()
    {
        for (std::uint32_t i = 0; i < tables_.size(); ++i) {
            TableLine& line = tables_[i];
            if (line.connection != 0 || line.saidOffline ||
                now_ - line.heardMs < settings_.offlineAfterMs)
                continue;
            incoming_.push_back({0, i, TableTimedOut{}});
            line.saidOffline = true;
        }
    }

    ServerSettings settings_;
    net::TlsContext tls_;
    Pseudonym pseudonym_;
    Post post_;
    int listener_;
    std::uint16_t port_;
    int epoll_;
    int wakeUp_;
    Counters counters_;

    std::mutex mutex_;
    std::vector<std::function<void(Loop&)>> works_;
    std::vector<Delivery> deliveries_;

    // Of the thread alone.
    std::vector<std::string> tableIds_;
    std::unordered_map<std::string, std::uint32_t> tableIndex_;
    std::vector<TableLine> tables_;
    std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
    std::unordered_map<std::string, std::int64_t> perAddress_;
    std::deque<std::uint64_t> newcomers_;  // some are tables by now, or gone
    std::uint64_t nextId_ = kWakeUp + 1;
    std::vector<Incoming> incoming_;  // that is not posted yet
    std::vector<std::uint64_t> stalled_;
    std::vector<std::uint64_t> again_;  // have more to say than they were given time for
    std::vector<std::uint64_t> toFlush_;
    std::vector<std::uint64_t> gone_;
    RejectedConnections strangers_;
    std::int64_t strangersMs_ = 0;
    v1::ToDaemon message_;  // its memory is used again
    std::int64_t now_ = nowMs();
    std::int64_t stopMs_ = 0;
    bool over_ = false;
};

Result<std::unique_ptr<Server>> Server::listen(const ServerSettings& settings, net::TlsContext tls,
                                               std::vector<std::string> tables, Pseudonym pseudonym,
                                               Post post)
{
    auto listener = net::listenOn(settings.host, settings.port);
    if (!listener) return listener.error();
    return std::unique_ptr<Server>{
        new Server{std::make_unique<Loop>(settings, std::move(tls), std::move(tables),
                                          std::move(pseudonym), std::move(post), *listener)}};
}

Server::Server(std::unique_ptr<Loop> loop)
    : loop_{std::move(loop)}, thread_{[this] { loop_->run(); }}
{}

Server::~Server() { stop(v1::Goodbye::SHUTDOWN, "the daemon is shutting down"); }

std::uint16_t Server::port() const { return loop_->port(); }

const Server::Counters& Server::counters() const { return loop_->counters(); }

void Server::deliver(Delivery delivery) { loop_->enqueue(std::move(delivery)); }

void Server::setTables(std::vector<std::string> tables)
{
    loop_->enqueue([tables = std::move(tables)](Loop& loop) { loop.takeTables(tables); });
}

void Server::setTls(net::TlsContext tls)
{
    loop_->enqueue([tls = std::move(tls)](Loop& loop) { loop.takeTls(tls); });
}

void Server::setLimits(const ServerSettings& settings)
{
    loop_->enqueue([settings](Loop& loop) { loop.takeLimits(settings); });
}

void Server::stop(v1::Goodbye::Why why, const std::string& detail)
{
    if (!thread_.joinable()) return;
    loop_->enqueue([why, detail](Loop& loop) { loop.sayGoodbye(why, detail); });
    thread_.join();
}

}  // namespace jackpot::linkproto
