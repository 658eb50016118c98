#include "net/http_server.h"

#include <openssl/crypto.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "net/event_loop.h"
#include "net/http_connection.h"
#include "net/http_parser.h"
#include "net/router.h"
#include "net/socket.h"
#include "net/worker_pools.h"

namespace jackpot::net {
namespace {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using std::chrono::milliseconds;

constexpr milliseconds kTick{200};
constexpr int kPhasesAtOnce = 32;
constexpr milliseconds kLinger{1000};
constexpr milliseconds kStuckFeed{30'000};
constexpr std::size_t kMaxPublished = 1024;  // that the loop has not seen yet
constexpr std::size_t kMaxWaiting = 64;      // events of one feed
constexpr std::size_t kSlowestBytesPerS = 16U << 10U;
constexpr std::size_t kFeedPiece = 16U << 10U;

struct Event {
    std::shared_ptr<const std::string> text;
    std::string topic;
};

std::optional<uid_t> userAtOtherEnd(const AcceptedConnection& accepted)
{
    if (accepted.peer.ss_family != AF_UNIX) return std::nullopt;
    ucred peer{.pid = 0, .uid = static_cast<uid_t>(-1), .gid = static_cast<gid_t>(-1)};
    socklen_t size = sizeof peer;
    ::getsockopt(accepted.socket, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    return peer.uid;
}

}  // namespace

class HttpServer::Loop final : private EventHandler {
public:
    // A listener is -1 if there is none.
    Loop(HttpServerSettings settings, std::optional<TlsContext> tls, int httpsListener,
         int localListener, std::vector<Route> routes, LogWarning logWarning)
        : settings_{std::move(settings)},
          router_{std::move(routes), settings_.notFound},
          logWarning_{std::move(logWarning)},
          tls_{std::move(tls)},
          limits_{settings_.limits},
          loop_{kTick, connectionLimits(limits_), counters_},
          pools_{[this](std::uint64_t connection, Reply reply) {
                     {
                         const std::scoped_lock lock{mutex_};
                         done_.emplace_back(connection, std::move(reply));
                     }
                     loop_.wakeUp();
                 },
                 logWarning_}
    {
        if (httpsListener >= 0) loop_.addListener(httpsListener);
        if (localListener >= 0)
            loop_.addListener(localListener,
                              {settings_.maxLocalConnections, settings_.maxLocalConnections},
                              localCounters_);
        thread_ = std::jthread{[this] {
            ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), WorkerPools::kNiceness);
            loop_.run(*this);
        }};
    }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    ~Loop()
    {
        pools_.stop();
        loop_.stop();
        thread_.join();
        takeDone();  // sends the replies of the last handlers
        if (!settings_.localSocket.empty()) ::unlink(settings_.localSocket.c_str());
    }

    [[nodiscard]] std::uint16_t port() const { return loop_.port(); }
    [[nodiscard]] const Counters& counters() const { return counters_; }

    void publish(std::string_view event, std::string_view json, std::string topic)
    {
        auto text = std::make_shared<std::string>("event: ");
        text->append(event).append("\ndata: ").append(json).append("\n\n");
        {
            const std::scoped_lock lock{mutex_};
            if (published_.size() >= kMaxPublished) {
                published_.pop_front();
                ++overflown_;
            }
            published_.push_back({std::move(text), std::move(topic)});
            if (published_.size() > 1) return;  // it has been woken already
        }
        loop_.wakeUp();
    }

    Result<void> setTls(const TlsFiles& files)
    {
        auto made = TlsContext::make(TlsContext::Role::WebServer, files);
        if (!made) return made.error();
        const std::scoped_lock lock{mutex_};
        tls_ = std::move(*made);
        return {};
    }

    void setLimits(const HttpServerLimits& limits)
    {
        {
            const std::scoped_lock lock{mutex_};
            limits_ = limits;
        }
        loop_.wakeUp();
    }

private:
    static ConnectionLimits connectionLimits(const HttpServerLimits& limits)
    {
        return {limits.maxConnections, limits.maxConnectionsPerAddress};
    }

    void watch(Connection& connection, std::uint32_t what) const
    {
        if (connection.watched == what) return;
        connection.watched = what;
        loop_.changeWatch(connection.stream->socket(), connection.id, what);
    }
    [[nodiscard]] HttpServerLimits limits()
    {
        const std::scoped_lock lock{mutex_};
        return limits_;
    }

    // ---- connections

    bool makeRoom() override { return closeIdlest(); }
    void onConnection(AcceptedConnection accepted) override
    {
        Client client{accepted.slot.address(), userAtOtherEnd(accepted)};
        Counters& counters = client.localUser ? localCounters_ : counters_;
        auto stream = openStream(accepted.socket, client.localUser.has_value());
        auto made = std::make_unique<Connection>(std::move(accepted), std::move(stream),
                                                 std::move(client), counters);
        made->deadline = Clock::now() + milliseconds{settings_.handshakeTimeoutMs};
        made->watched = EPOLLIN;
        loop_.watch(made->stream->socket(), made->id, EPOLLIN);
        connections_.emplace(made->id, std::move(made));
    }
    std::unique_ptr<Stream> openStream(int socket, bool isLocal)
    {
        if (isLocal) return std::make_unique<PlainStream>(socket);
        const std::scoped_lock lock{mutex_};
        return std::make_unique<TlsStream>(*tls_, socket);
    }
    void onReady(std::uint64_t id, std::uint32_t /*events*/) override { step(id); }
    void onDeadline(std::uint64_t /*id*/) override {}  // onTick() compares deadlines
    void onWakeUp() override { loop_.setLimits(connectionLimits(limits())); }
    void onTurnEnd() override
    {
        takeDone();
        takePublished();
    }

    void remove(std::uint64_t id)
    {
        const auto at = connections_.find(id);
        if (at == connections_.end()) return;
        Connection& connection = *at->second;
        if (connection.feed) --connection.counters.feeds;
        OPENSSL_cleanse(connection.in.data(), connection.in.size());
        connections_.erase(at);
    }

    // Room for another: the connection that has been waiting longest for a request to begin.
    bool closeIdlest()
    {
        const Connection* idlest = nullptr;
        for (const auto& [id, each] : connections_)
            if (!each->client.localUser && each->phase == Phase::Reading && !each->hasBegun &&
                (!idlest || each->deadline < idlest->deadline))
                idlest = each.get();
        if (!idlest) return false;
        remove(idlest->id);
        return true;
    }

    // Goes on with a connection as far as it goes.
    void step(std::uint64_t id)
    {
        const auto at = connections_.find(id);
        if (at == connections_.end()) return;
        Connection& connection = *at->second;
        bool isOpen = connection.phase != Phase::Working;  // in this phase only its end wakes it
        try {
            for (int i = 0; isOpen; ++i) {
                const Phase before = connection.phase;
                isOpen = advance(connection);
                if (connection.phase == before || connection.phase == Phase::Working) break;
                if (i < kPhasesAtOnce) continue;
                watch(connection, EPOLLIN | EPOLLOUT);  // it is the others' turn
                break;
            }
        } catch (const std::exception& fault) {
            logWarning_(std::string{"http: a connection failed: "} + fault.what());
            isOpen = false;
        }
        if (!isOpen) remove(id);
    }

    // Does what the phase takes. False where the connection is over; where the phase has not
    // changed, what it waits for is watched.
    bool advance(Connection& connection)
    {
        switch (connection.phase) {
            case Phase::Handshake: return handshake(connection);
            case Phase::Reading: return read(connection);
            case Phase::Writing: return write(connection);
            case Phase::Feeding: return writeFeed(connection);
            case Phase::Lingering: return linger(connection);
            case Phase::Working: break;
        }
        return true;
    }

    // Whether the connection stays open; what it waits for is watched.
    bool await(Connection& connection, Stream::Progress progress, std::uint32_t otherwise)
    {
        if (Stream::isOver(progress)) return false;
        watch(connection, progress == Stream::Progress::WantsRead    ? EPOLLIN
                          : progress == Stream::Progress::WantsWrite ? EPOLLOUT
                                                                     : otherwise);
        return true;
    }

    bool handshake(Connection& connection)
    {
        const auto progress = connection.stream->handshake();
        if (progress != Stream::Progress::Done) return await(connection, progress, EPOLLIN);
        connection.request.certificate = connection.stream->peerFingerprint();
        beginReading(connection, milliseconds{limits().requestTimeoutMs});
        return true;
    }

    void beginReading(Connection& connection, milliseconds patience)
    {
        connection.phase = Phase::Reading;
        connection.head.reset();
        connection.hasBegun = false;
        connection.deadline = Clock::now() + patience;
    }

    // ---- requests

    bool read(Connection& connection)
    {
        while (true) {
            if (!connection.in.empty() && !connection.hasBegun) {
                connection.hasBegun = true;
                connection.deadline = Clock::now() + milliseconds{limits().requestTimeoutMs};
            }
            if (!connection.head) {
                if (const auto end = endOfHead(connection.in); end && *end <= kMaxHeadBytes) {
                    if (!takeHead(connection, *end)) return true;
                } else if (connection.in.size() >= kMaxHeadBytes) {
                    answer(connection,
                           errorReply(431, "head_too_large", "a head has at most 16 KiB"), false);
                    return true;
                }
            }
            if (connection.head && connection.in.size() >= connection.head->bodyBytes) {
                takeBody(connection);
                return true;
            }
            const std::size_t most = connection.head
                                         ? connection.head->bodyBytes - connection.in.size()
                                         : kMaxHeadBytes - connection.in.size();
            const auto progress = connection.stream->read(connection.in, most);
            if (progress != Stream::Progress::Done) return await(connection, progress, EPOLLIN);
        }
    }

    // Everything that can be refused without the body is. False where an answer is on its way.
    bool takeHead(Connection& connection, std::size_t end)
    {
        ++connection.counters.requests;
        connection.headOnly = false;
        auto head =
            parseRequestHead(std::string_view{connection.in}.substr(0, end), settings_.bodyType);
        OPENSSL_cleanse(connection.in.data(), end);
        connection.in.erase(0, end);
        if (!head) {
            answer(connection, head.error(), false);
            return false;
        }
        connection.headOnly = head->method == "HEAD";
        if (auto authorized = authorize(connection, *head); !authorized) {
            // A body that is not complete yet would be parsed as the next request.
            const bool isComplete = connection.in.size() >= head->bodyBytes;
            if (isComplete) connection.in.erase(0, head->bodyBytes);
            answer(connection, authorized.error(), head->keepAlive && isComplete);
            return false;
        }
        connection.keepAlive = head->keepAlive;
        connection.head = std::move(*head);
        if (connection.head->expectsContinue && connection.in.size() < connection.head->bodyBytes) {
            // It fits any socket's buffer; where it does not, the client goes on by itself.
            std::string_view interim = "HTTP/1.1 100 Continue\r\n\r\n";
            (void)connection.stream->write(interim);
        }
        return true;
    }

    // Finds the route and calls its authorisation.
    Result<void, Reply> authorize(Connection& connection, const RequestHead& head)
    {
        auto match = router_.find(head.method, head.path);
        if (!match) return match.error();
        auto query = parseQuery(head.query);
        if (!query) return errorReply(400, "malformed_request", "the query is malformed");
        auto authorized = match->route->authorize(head, connection.client);
        if (!authorized) return authorized.error();
        connection.route = match->route;
        connection.authorized = std::move(*authorized);
        Request& request = connection.request;
        request.method = head.method;
        request.path = std::move(match->path);
        request.query = std::move(*query);
        request.address = connection.client.address;
        return {};
    }

    void takeBody(Connection& connection)
    {
        Request request = connection.request;
        request.body = connection.in.substr(0, connection.head->bodyBytes);
        OPENSSL_cleanse(connection.in.data(), request.body.size());
        connection.in.erase(0, request.body.size());
        connection.phase = Phase::Working;
        watch(connection, 0);
        if (!pools_.enqueue(connection.id, *connection.route,
                            std::move(connection.authorized.handle), std::move(request))) {
            Reply busy = errorReply(429, "busy", "too many requests of this kind: try again");
            busy.headers["Retry-After"] = "1";
            {
                const std::scoped_lock lock{mutex_};
                done_.emplace_back(connection.id, std::move(busy));
            }
            loop_.wakeUp();
        }
    }

    void takeDone()
    {
        std::vector<std::pair<std::uint64_t, Reply>> done;
        {
            const std::scoped_lock lock{mutex_};
            done.swap(done_);
        }
        for (auto& [id, reply] : done) {
            const auto at = connections_.find(id);
            if (at == connections_.end()) continue;
            Connection& connection = *at->second;
            const bool isFeed = reply.contentType == kEventStreamType && !connection.headOnly;
            if (isFeed && !hasRoomForFeed(connection))
                answer(connection, errorReply(429, "too_many_feeds", "too many feeds are open"),
                       connection.keepAlive);
            else if (isFeed)
                beginFeed(connection, reply);
            else
                answer(connection, std::move(reply), connection.keepAlive);
            step(id);
        }
    }

    void answer(Connection& connection, Reply reply, bool keepAlive)
    {
        if (connection.phase == Phase::Reading) ++connection.counters.rejectedRequests;
        connection.keepAlive = keepAlive;
        connection.out = formatReplyHead(reply, keepAlive);
        if (!connection.headOnly && reply.status != 204) connection.out += reply.body;
        connection.written = 0;
        connection.phase = Phase::Writing;
        connection.deadline = Clock::now() + milliseconds{limits().requestTimeoutMs} +
                              milliseconds{1000 * (connection.out.size() / kSlowestBytesPerS)};
    }

    bool write(Connection& connection)
    {
        std::string_view left = std::string_view{connection.out}.substr(connection.written);
        const auto progress = connection.stream->write(left);
        connection.written = connection.out.size() - left.size();
        if (progress != Stream::Progress::Done) return await(connection, progress, EPOLLOUT);
        OPENSSL_cleanse(connection.out.data(), connection.out.size());
        connection.out.clear();
        if (connection.keepAlive) {
            beginReading(connection, milliseconds{settings_.idleTimeoutMs});
            return true;
        }
        // Closed at once, a client that is still sending would lose the answer.
        connection.stream->close();
        ::shutdown(connection.stream->socket(), SHUT_WR);
        connection.phase = Phase::Lingering;
        connection.deadline = Clock::now() + kLinger;
        return true;
    }

    bool linger(Connection& connection)
    {
        constexpr int kPieces = 16;
        for (int i = 0; i < kPieces; ++i) {
            std::string ignored;
            const auto progress = connection.stream->read(ignored, kMaxHeadBytes);
            if (progress != Stream::Progress::Done) return await(connection, progress, EPOLLIN);
        }
        watch(connection, EPOLLIN);
        return true;
    }

    // ---- feeds

    // Those that are for anyone leave half of the room to people.
    bool hasRoomForFeed(const Connection& connection)
    {
        const std::int64_t most = limits().maxFeeds;
        if (connection.client.localUser) return true;  // maxLocalConnections limits them
        if (static_cast<std::int64_t>(counters_.feeds) >= most) return false;
        if (connection.authorized.isStillAuthorized) return true;
        return std::ranges::count_if(connections_, [](const auto& each) {
                   return !each.second->client.localUser && each.second->feed &&
                          !each.second->feed->isStillAuthorized;
               }) < (most + 1) / 2;
    }

    void beginFeed(Connection& connection, const Reply& reply)
    {
        ++connection.counters.feeds;
        connection.out = formatReplyHead(reply, false) + ": welcome\n\n";
        connection.written = 0;
        connection.phase = Phase::Feeding;
        const Time now = Clock::now();
        connection.feed =
            Feed{std::move(connection.authorized.isStillAuthorized), reply.topic, {}, 0, now, now};
    }

    bool writeFeed(Connection& connection)
    {
        Feed& feed = *connection.feed;
        while (true) {
            if (connection.written == connection.out.size()) refill(connection);
            if (connection.out.empty()) break;
            std::string_view left = std::string_view{connection.out}.substr(connection.written);
            const std::size_t before = left.size();
            const auto progress = connection.stream->write(left);
            connection.written = connection.out.size() - left.size();
            if (left.size() < before) feed.lastProgress = Clock::now();
            if (Stream::isOver(progress)) return false;
            if (progress != Stream::Progress::Done) {
                watch(connection, EPOLLIN | EPOLLOUT);
                return true;
            }
        }
        // Nothing is to come from there but its end.
        std::string said;
        const auto progress = connection.stream->read(said, 1024);
        watch(connection, EPOLLIN);
        return progress == Stream::Progress::WantsRead;
    }

    static void refill(Connection& connection)
    {
        Feed& feed = *connection.feed;
        connection.out.clear();
        connection.written = 0;
        if (feed.lost > 0)
            connection.out = "event: lost\ndata: {\"count\":" + std::to_string(feed.lost) + "}\n\n";
        feed.lost = 0;
        while (!feed.waiting.empty() && connection.out.size() < kFeedPiece) {
            connection.out += *feed.waiting.front();
            feed.waiting.pop_front();
        }
        feed.lastWrite = Clock::now();
    }

    void takePublished()
    {
        std::deque<Event> published;
        std::uint64_t overflown = 0;
        {
            const std::scoped_lock lock{mutex_};
            published.swap(published_);
            overflown = std::exchange(overflown_, 0);
        }
        if (published.empty()) return;
        std::vector<std::uint64_t> feeds;
        for (const auto& [id, connection] : connections_) {
            if (!connection->feed) continue;
            Feed& feed = *connection->feed;
            feed.lost += overflown;
            for (const Event& event : published) {
                if (!feed.topic.empty() && feed.topic != event.topic) continue;
                if (feed.waiting.size() >= kMaxWaiting) {
                    feed.waiting.pop_front();
                    ++feed.lost;
                }
                feed.waiting.push_back(event.text);
            }
            feeds.push_back(id);
        }
        for (const std::uint64_t id : feeds) step(id);
    }

    // ---- what time brings

    void onTick() override
    {
        const Time now = Clock::now();
        std::vector<std::uint64_t> late;
        std::vector<std::uint64_t> quiet;
        for (const auto& [id, connection] : connections_) {
            if (connection->feed) {
                const Feed& feed = *connection->feed;
                const bool isStuck = connection->written < connection->out.size() &&
                                     now - feed.lastProgress > kStuckFeed;
                if (isStuck || (feed.isStillAuthorized && !feed.isStillAuthorized()))
                    late.push_back(id);
                else if (now - feed.lastWrite >= milliseconds{settings_.heartbeatMs})
                    quiet.push_back(id);
            } else if (connection->phase != Phase::Working && now >= connection->deadline) {
                late.push_back(id);
            }
        }
        for (const std::uint64_t id : late) end(*connections_.at(id));
        // An event and not a comment: a page must be able to tell silence from peace.
        static const auto kHeartbeat =
            std::make_shared<const std::string>("event: alive\ndata: {}\n\n");
        for (const std::uint64_t id : quiet) {
            Feed& feed = *connections_.at(id)->feed;
            if (feed.waiting.empty()) feed.waiting.push_back(kHeartbeat);
            step(id);
        }
    }

    void end(Connection& connection)
    {
        const std::uint64_t id = connection.id;
        if (connection.phase == Phase::Reading && connection.hasBegun) {
            ++connection.counters.timedOut;
            answer(connection,
                   errorReply(408, "too_slow", "the request did not come whole in time"), false);
            step(id);
            return;
        }
        if (connection.phase == Phase::Handshake || connection.phase == Phase::Writing)
            ++connection.counters.timedOut;
        if (connection.phase == Phase::Feeding) connection.stream->close();
        remove(id);
    }

    const HttpServerSettings settings_;
    const Router router_;
    LogWarning logWarning_;
    Counters counters_;       // of HTTPS
    Counters localCounters_;  // of the local socket

    std::mutex mutex_;  // of what other threads put here
    std::optional<TlsContext> tls_;
    HttpServerLimits limits_;
    std::vector<std::pair<std::uint64_t, Reply>> done_;
    std::deque<Event> published_;
    std::uint64_t overflown_ = 0;

    EventLoop loop_;
    std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;

    WorkerPools pools_;
    std::jthread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Loop> loop) : loop_{std::move(loop)} {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::listen(HttpServerSettings settings,
                                                       std::vector<Route> routes,
                                                       LogWarning logWarning)
{
    std::optional<TlsContext> tls;
    Result<int> https = -1;
    if (!settings.host.empty()) {
        auto made = TlsContext::make(TlsContext::Role::WebServer, settings.tls);
        if (!made) return made.error();
        tls = std::move(*made);
        https = listenOn(settings.host, settings.port);
        if (!https) return https.error();
    }
    Result<int> local = -1;
    if (!settings.localSocket.empty()) local = listenOnPath(settings.localSocket);
    if (!local) {
        if (*https >= 0) ::close(*https);
        return local.error();
    }
    return std::unique_ptr<HttpServer>{
        new HttpServer{std::make_unique<Loop>(std::move(settings), std::move(tls), *https, *local,
                                              std::move(routes), std::move(logWarning))}};
}

std::uint16_t HttpServer::port() const { return loop_->port(); }
void HttpServer::publish(std::string_view event, std::string_view json, std::string topic)
{
    loop_->publish(event, json, std::move(topic));
}
Result<void> HttpServer::setTls(const TlsFiles& files) { return loop_->setTls(files); }
void HttpServer::setLimits(const HttpServerLimits& limits) { loop_->setLimits(limits); }
const HttpServer::Counters& HttpServer::counters() const { return loop_->counters(); }

}  // namespace jackpot::net
