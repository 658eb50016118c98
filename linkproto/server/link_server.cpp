#include "linkproto/server/link_server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "linkproto/server/connection.h"
#include "linkproto/server/table_certificate.h"
#include "net/socket.h"

namespace jackpot::linkproto {
namespace {

using net::TlsStream;
using Progress = TlsStream::Progress;
using Stage = Connection::Stage;

constexpr std::chrono::milliseconds kTick{100};
constexpr std::int64_t kRejectedReportMs = 60'000;
constexpr std::size_t kReadAtOnce = 16U << 10U;  // of one connection, before the next one's turn
constexpr std::size_t kMaxUnread = 256U << 10U;  // output that a peer may leave unread
constexpr std::size_t kMaxIncoming = 1024;       // received and not yet taken by the writer

std::int64_t toMs(net::EventLoop::Clock::time_point time)
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

std::int64_t wallClockMs()
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

// A connection with its socket.
struct Peer {
    net::ConnectionSlot slot;
    TlsStream stream;
    Connection connection;
    std::int64_t lastSentMs = 0;
    bool wantsWrite = false;  // as epoll knows it
    bool isStalled = false;   // not read, because the writer's mailbox is full
};

net::ConnectionLimits limitsOf(const ServerSettings& settings)
{
    return {settings.maxConnections, settings.maxConnectionsPerAddress};
}

}  // namespace

class Server::Impl final : private net::EventHandler, private ConnectionEvents {
public:
    Impl(const ServerSettings& settings, net::TlsContext tls, std::vector<std::string> tables,
         Pseudonym pseudonym, Post post, int listener)
        : settings_{settings},
          tls_{std::move(tls)},
          pseudonym_{std::move(pseudonym)},
          post_{std::move(post)},
          loop_{kTick, limitsOf(settings), counters_}
    {
        setTables(std::move(tables));
        loop_.addListener(listener);
    }

    [[nodiscard]] std::uint16_t port() const { return loop_.port(); }
    [[nodiscard]] const Counters& counters() const { return counters_; }

    // --- any thread

    void enqueue(std::function<void(Impl&)> work)
    {
        {
            const std::scoped_lock lock{mutex_};
            works_.push_back(std::move(work));
        }
        loop_.wakeUp();
    }
    void enqueue(Delivery delivery)
    {
        bool wasEmpty = false;
        {
            const std::scoped_lock lock{mutex_};
            wasEmpty = deliveries_.empty();
            deliveries_.push_back(std::move(delivery));
        }
        // postIncoming() delivers what the writer has decided in this thread.
        if (wasEmpty && std::this_thread::get_id() != thread_) loop_.wakeUp();
    }

    // --- the loop's thread

    void run()
    {
        thread_ = std::this_thread::get_id();
        loop_.run(*this);
    }

    void setTables(std::vector<std::string> tables)
    {
        tableIds_ = std::move(tables);
        tableIndex_.clear();
        for (std::uint32_t i = 0; i < tableIds_.size(); ++i) tableIndex_[tableIds_[i]] = i;
        tables_.resize(tableIds_.size(), {0, nowMs(), false});
    }
    void setTls(net::TlsContext tls)
    {
        tls_ = std::move(tls);
        for (auto& [id, peer] : peers_) {
            if (peer->connection.stage() <= Stage::Hello) continue;
            const auto verified = peer->stream.verifyPeer(tls_);
            if (verified) continue;
            countRejected(peer->connection.address() + ": " + verified.error().message);
            peer->connection.closeWithGoodbye(GoodbyeReason::NotATable, verified.error().message);
        }
    }
    void setLimits(const ServerSettings& settings)
    {
        settings_.offlineAfterMs = settings.offlineAfterMs;
        loop_.setLimits(limitsOf(settings));
        settings_.maxConnections = settings.maxConnections;
    }
    void closeAll(GoodbyeReason reason, const std::string& detail)
    {
        loop_.stopAccepting();
        for (auto& [id, peer] : peers_) peer->connection.closeWithGoodbye(reason, detail);
        stopMs_ = nowMs() + Connection::kGoodbyeMs;
        stopIfAllClosed();
    }

private:
    struct Table {
        std::uint64_t connection = 0;  // 0 for none
        std::int64_t lastReceivedMs = 0;
        bool isReportedOffline = false;
    };

    Peer* find(std::uint64_t id)
    {
        const auto found = peers_.find(id);
        return found == peers_.end() ? nullptr : found->second.get();
    }
    void updateWatch(const Peer& peer) const
    {
        const std::uint32_t in = peer.isStalled ? 0U : static_cast<std::uint32_t>(EPOLLIN);
        const std::uint32_t out = peer.wantsWrite ? static_cast<std::uint32_t>(EPOLLOUT) : 0U;
        loop_.changeWatch(peer.stream.socket(), peer.connection.id(), in | out);
    }

    // --- opening and closing

    void onConnection(net::AcceptedConnection accepted) override
    {
        const std::uint64_t id = accepted.id;
        std::string address = accepted.slot.address();
        auto peer = std::make_unique<Peer>(
            Peer{std::move(accepted.slot), TlsStream{tls_, accepted.socket},
                 Connection{id, std::move(address), *this, settings_.frameTimeoutMs,
                            nowMs() + settings_.handshakeTimeoutMs}});
        loop_.watch(accepted.socket, id, EPOLLIN);
        peers_.emplace(id, std::move(peer));
        forgetIdentified();
        unidentified_.push_back(id);
    }

    [[nodiscard]] bool isUnidentified(std::uint64_t id)
    {
        Peer* const peer = find(id);
        return peer && peer->connection.stage() <= Stage::Hello;
    }
    void forgetIdentified()
    {
        while (!unidentified_.empty() && !isUnidentified(unidentified_.front()))
            unidentified_.pop_front();
    }

    // Closes the oldest connections without a Hello, so that they keep no table out.
    bool makeRoom() override
    {
        while (static_cast<std::int64_t>(peers_.size()) >= settings_.maxConnections) {
            forgetIdentified();
            if (unidentified_.empty()) return false;
            Peer& oldest = *find(unidentified_.front());
            unidentified_.pop_front();
            countRejected(oldest.connection.address() + ": gave way to a newer connection");
            close(oldest);
        }
        return true;
    }

    void onRejected(const std::string& address) override
    {
        reportRejected(address + ": too many connections");
    }
    void countRejected(const std::string& reason)
    {
        loop_.countRejected();
        reportRejected(reason);
    }
    void reportRejected(const std::string& reason)
    {
        ++rejected_.count;
        rejected_.example = reason;
    }

    // The peer does not exist after this.
    void close(Peer& peer)
    {
        const std::uint64_t id = peer.connection.id();
        clearTable(peer.connection);
        peer.stream.close();
        peers_.erase(id);
        stopIfAllClosed();
    }
    void clearTable(const Connection& connection)
    {
        if (!connection.table()) return;
        Table& table = tables_[*connection.table()];
        if (table.connection == connection.id()) table.connection = 0;
    }
    void stopIfAllClosed()
    {
        if (stopMs_ > 0 && peers_.empty()) loop_.stop();
    }
    void closeEnded()
    {
        for (const std::uint64_t id : ended_)
            if (Peer* peer = find(id)) close(*peer);
        ended_.clear();
    }

    // --- input; false: the connection is to be closed

    void onReady(std::uint64_t id, std::uint32_t events) override
    {
        Peer* const peer = find(id);
        if (!peer) return;
        bool isOpen = true;
        if ((events & EPOLLOUT) != 0) isOpen = onWritable(*peer);
        if (isOpen && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) isOpen = onReadable(*peer);
        if (!isOpen) ended_.push_back(id);
        closeEnded();
    }

    bool onReadable(Peer& peer)
    {
        Connection& connection = peer.connection;
        if (connection.stage() == Stage::Handshake) {
            const Progress progress = peer.stream.handshake();
            if (progress == Progress::WantsWrite) setWantsWrite(peer, true);
            if (progress == Progress::WantsRead || progress == Progress::WantsWrite) return true;
            if (progress != Progress::Done) {
                countRejected(connection.address() + ": " + peer.stream.error());
                return false;
            }
            connection.onHandshakeDone();
        }
        if (peer.isStalled || stallIfFull(peer)) return true;
        std::string& input = connection.input();
        const Progress progress = peer.stream.read(input, kReadAtOnce);
        if (TlsStream::isOver(progress)) return false;
        if (connection.isClosing()) input.clear();
        if (progress == Progress::Done) handleFrames(peer);
        if (peer.stream.isPeerClosed()) return false;
        if (peer.stream.hasBufferedInput() && !peer.isStalled)
            loop_.repeatEvent(connection.id(), EPOLLIN);
        return true;
    }

    void handleFrames(Peer& peer)
    {
        Connection& connection = peer.connection;
        connection.handleFrames();
        if (!connection.table()) return;
        Table& table = tables_[*connection.table()];
        table.lastReceivedMs = std::max(table.lastReceivedMs, connection.lastReceivedMs());
    }

    // While the writer's mailbox is full, nothing more is read, so that TCP slows the tables down.
    [[nodiscard]] bool isFull() const { return incoming_.size() >= kMaxIncoming; }
    bool stallIfFull(Peer& peer)
    {
        if (!isFull()) return false;
        peer.isStalled = true;
        updateWatch(peer);
        stalled_.push_back(peer.connection.id());
        return true;
    }
    void resumeStalled()
    {
        if (isFull() || stalled_.empty()) return;
        for (const std::uint64_t id : std::exchange(stalled_, {})) {
            Peer* const peer = find(id);
            if (!peer) continue;
            peer->isStalled = false;
            updateWatch(*peer);
            handleFrames(*peer);  // those that were received before it was stalled
            if (peer->stream.hasBufferedInput()) loop_.repeatEvent(id, EPOLLIN);
        }
    }

    // --- the connections' events

    [[nodiscard]] std::int64_t nowMs() const override { return toMs(loop_.now()); }

    Result<std::uint32_t> findTable(const Connection& connection) override
    {
        const auto id = tableIdOf(find(connection.id())->stream);
        if (!id) return id.error();
        const auto found = tableIndex_.find(*id);
        if (found == tableIndex_.end()) return Error{"there is no table " + id->substr(0, 64)};
        return found->second;
    }
    void onIdentified(const Connection& connection) override
    {
        Table& table = tables_[*connection.table()];
        if (Peer* older = find(table.connection))
            older->connection.closeWithGoodbye(GoodbyeReason::Replaced,
                                               "a newer connection of this table is there");
        table = {connection.id(), nowMs(), false};
    }
    Result<rules::Command> readCommand(const v2::Command& message, std::uint32_t table) override
    {
        auto command = linkproto::readCommand(message, tableIds_[table], pseudonym_);
        if (command) ++counters_.commands;
        return command;
    }
    // Posted at the end of the turn: the more commands one commit decides, the less each waits.
    void onIncoming(Incoming incoming) override { incoming_.push_back(std::move(incoming)); }
    bool mustStall(Connection& connection) override
    {
        return isFull() && stallIfFull(*find(connection.id()));
    }
    void onBadFrame() override { ++counters_.badFrames; }
    void onNotATable(const std::string& reason) override { countRejected(reason); }
    void onOutput(Connection& connection) override { toFlush_.push_back(connection.id()); }
    void onClosing(Connection& connection) override
    {
        clearTable(connection);
        if (!onWritable(*find(connection.id()))) ended_.push_back(connection.id());
    }

    void postIncoming()
    {
        if (incoming_.empty()) return;
        const std::size_t taken = post_(incoming_);
        incoming_.erase(incoming_.begin(), incoming_.begin() + static_cast<std::ptrdiff_t>(taken));
        if (!incoming_.empty()) ++counters_.stalls;
        deliverAll();
    }

    // --- output

    void setWantsWrite(Peer& peer, bool wantsWrite)
    {
        if (peer.wantsWrite == wantsWrite) return;
        peer.wantsWrite = wantsWrite;
        updateWatch(peer);
    }

    // False: the connection is to be closed.
    bool onWritable(Peer& peer)
    {
        std::string& output = peer.connection.output();
        if (peer.connection.stage() == Stage::Handshake) {
            setWantsWrite(peer, false);
            return output.empty() ? onReadable(peer) : false;
        }
        std::string_view rest = output;
        const Progress progress = peer.stream.write(rest);
        peer.lastSentMs = nowMs();
        output.erase(0, output.size() - rest.size());
        if (TlsStream::isOver(progress) || output.size() > kMaxUnread) return false;
        setWantsWrite(peer, !output.empty());
        if (output.empty() && output.capacity() > kMaxFrameBytes) std::string{}.swap(output);
        // The peer closes the connection when it has read the Goodbye; else its deadline does.
        if (peer.connection.isClosing() && output.empty()) peer.stream.close();
        return true;
    }

    // One write per connection and turn.
    void flushOutput()
    {
        for (const std::uint64_t id : toFlush_) {
            Peer* const peer = find(id);
            if (!peer || peer->connection.output().empty()) continue;
            const bool isOpen = peer->wantsWrite ? peer->connection.output().size() <= kMaxUnread
                                                 : onWritable(*peer);
            if (!isOpen) ended_.push_back(id);
        }
        toFlush_.clear();
    }

    void onWakeUp() override
    {
        deliverAll();
        std::vector<std::function<void(Impl&)>> works;
        {
            const std::scoped_lock lock{mutex_};
            works.swap(works_);
        }
        for (const auto& work : works) work(*this);
        postIncoming();
        resumeStalled();
    }

    void deliverAll()
    {
        std::vector<Delivery> deliveries;
        {
            const std::scoped_lock lock{mutex_};
            deliveries.swap(deliveries_);
        }
        for (const Delivery& delivery : deliveries) deliver(delivery);
    }
    void deliver(const Delivery& delivery)
    {
        const v2::Receipt receipt = toMessage(delivery.receipt);
        std::vector<std::uint64_t> deciding;
        for (const Outgoing& each : delivery.outgoing) {
            const std::uint64_t id =
                each.connection != 0 ? each.connection : tables_[each.table].connection;
            Peer* const peer = find(id);
            if (!peer || peer->connection.isClosing()) continue;
            const bool hadDecisions = peer->connection.hasDecisions();
            peer->connection.deliver(each.reply, receipt);
            if (!hadDecisions && peer->connection.hasDecisions()) deciding.push_back(id);
        }
        for (const std::uint64_t id : deciding)
            if (Peer* peer = find(id)) peer->connection.flushDecisions(receipt);
    }

    // --- time

    void onTick() override
    {
        for (auto& [id, peer] : peers_) {
            Connection& connection = peer->connection;
            const bool isSilent = connection.isIdentified() && !connection.isClosing() &&
                                  !peer->isStalled &&
                                  nowMs() - connection.lastReceivedMs() >= settings_.offlineAfterMs;
            const bool isHeartbeatDue = connection.stage() == Stage::Open &&
                                        nowMs() - peer->lastSentMs >= kHeartbeatMs &&
                                        connection.output().empty();
            if (connection.isDeadlinePassed()) {
                if (!connection.onDeadline()) ended_.push_back(id);
            } else if (isSilent) {
                connection.closeWithGoodbye(GoodbyeReason::Silent,
                                            "nothing was received for too long");
            } else if (isHeartbeatDue) {
                connection.sendHeartbeat(wallClockMs());
            }
        }
        reportOfflineTables();
        if (rejected_.count > 0 && nowMs() >= nextRejectedReportMs_) {
            incoming_.push_back({0, 0, std::exchange(rejected_, {})});
            nextRejectedReportMs_ = nowMs() + kRejectedReportMs;
        }
        if (stopMs_ > 0 && nowMs() >= stopMs_) loop_.stop();
        postIncoming();
        resumeStalled();
    }

    void onTurnEnd() override
    {
        postIncoming();
        flushOutput();
        closeEnded();
    }

    void reportOfflineTables()
    {
        for (std::uint32_t i = 0; i < tables_.size(); ++i) {
            Table& table = tables_[i];
            if (table.connection != 0 || table.isReportedOffline ||
                nowMs() - table.lastReceivedMs < settings_.offlineAfterMs)
                continue;
            incoming_.push_back({0, i, TableTimedOut{}});
            table.isReportedOffline = true;
        }
    }

    ServerSettings settings_;
    net::TlsContext tls_;
    const Pseudonym pseudonym_;
    const Post post_;
    Counters counters_;
    net::EventLoop loop_;
    std::atomic<std::thread::id> thread_;  // that run() uses

    std::mutex mutex_;  // guards the next two
    std::vector<std::function<void(Impl&)>> works_;
    std::vector<Delivery> deliveries_;

    // The rest is for the loop's thread only.
    std::vector<std::string> tableIds_;
    std::unordered_map<std::string, std::uint32_t> tableIndex_;
    std::vector<Table> tables_;
    std::unordered_map<std::uint64_t, std::unique_ptr<Peer>> peers_;
    std::deque<std::uint64_t> unidentified_;  // by age; some are identified or closed by now
    std::vector<Incoming> incoming_;          // not yet taken by the writer
    std::vector<std::uint64_t> stalled_;
    std::vector<std::uint64_t> toFlush_;
    std::vector<std::uint64_t> ended_;
    RejectedConnections rejected_;  // since the last report
    std::int64_t nextRejectedReportMs_ = 0;
    std::int64_t stopMs_ = 0;  // 0 until closeAll()
};

Result<std::unique_ptr<Server>> Server::listen(const ServerSettings& settings, net::TlsContext tls,
                                               std::vector<std::string> tables, Pseudonym pseudonym,
                                               Post post)
{
    auto listener = net::listenOn(settings.host, settings.port);
    if (!listener) return listener.error();
    return std::unique_ptr<Server>{
        new Server{std::make_unique<Impl>(settings, std::move(tls), std::move(tables),
                                          std::move(pseudonym), std::move(post), *listener)}};
}

Server::Server(std::unique_ptr<Impl> impl)
    : impl_{std::move(impl)}, thread_{[this] { impl_->run(); }}
{}

Server::~Server() { stop(GoodbyeReason::Shutdown, "the daemon is shutting down"); }

std::uint16_t Server::port() const { return impl_->port(); }

const Server::Counters& Server::counters() const { return impl_->counters(); }

void Server::deliver(Delivery delivery) { impl_->enqueue(std::move(delivery)); }

void Server::setTables(std::vector<std::string> tables)
{
    impl_->enqueue([tables = std::move(tables)](Impl& impl) { impl.setTables(tables); });
}

void Server::setTls(net::TlsContext tls)
{
    impl_->enqueue([tls = std::move(tls)](Impl& impl) { impl.setTls(tls); });
}

void Server::setLimits(const ServerSettings& settings)
{
    impl_->enqueue([settings](Impl& impl) { impl.setLimits(settings); });
}

void Server::stop(GoodbyeReason reason, const std::string& detail)
{
    if (!thread_.joinable()) return;
    impl_->enqueue([reason, detail](Impl& impl) { impl.closeAll(reason, detail); });
    thread_.join();
}

}  // namespace jackpot::linkproto
