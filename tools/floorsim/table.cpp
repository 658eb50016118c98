#include "tools/floorsim/table.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace jackpot::floorsim {
namespace {

using net::TlsStream;

constexpr std::size_t kReadBytes = 8U << 10U;  // small, because each read zeroes its buffer first
constexpr std::size_t kMaxConnecting = 64;     // more handshakes at once would time out
constexpr std::int64_t kConnectMs = 5000;
constexpr std::size_t kMaxNotes = 50;

}  // namespace

Now Now::read()
{
    return {linkproto::ClockReading::now(), std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                std::chrono::steady_clock::now().time_since_epoch())
                                                .count()};
}

void FloorShared::addNote(std::string what)
{
    if (notes.size() < kMaxNotes) notes.push_back(std::move(what));
}

FloorTable::FloorTable(FloorShared& floor, std::uint32_t index, linkproto::Outbox outbox,
                       net::TlsContext tls)
    : floor_{floor},
      index_{index},
      terms_{floor.books.tables()[index]},
      planTable_{.index = index,
                 .tables = static_cast<std::uint32_t>(floor.books.tables().size()),
                 .salt = saltOf(terms_.id),
                 .game = floor.books.pools()[terms_.pool].terms().game,
                 .seats = terms_.seats},
      tls_{std::move(tls)},
      session_{std::move(outbox), *this, "floorsim", planTable_.salt | 1U}
{}

FloorTable::~FloorTable()
{
    if (socket_ >= 0) ::close(socket_);
}

// ---- the link
// --------------------------------------------------------------------------------------

void FloorTable::watch(std::uint32_t events)
{
    if (events == watched_ || !stream_) return;
    epoll_event event{};
    event.events = events;
    event.data.u32 = index_;
    ::epoll_ctl(floor_.epoll, EPOLL_CTL_MOD, stream_->socket(), &event);
    watched_ = events;
}

void FloorTable::connect(const Now& now)
{
    const auto* const address = reinterpret_cast<const sockaddr*>(floor_.address.data());
    socket_ = ::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    if (socket_ < 0 ||
        (::connect(socket_, address, static_cast<socklen_t>(floor_.address.size())) != 0 &&
         errno != EINPROGRESS)) {
        floor_.addNote("table " + terms_.id + ": no connection: " + std::strerror(errno));
        if (socket_ >= 0) ::close(socket_);
        socket_ = -1;
        return session_.onDisconnected(now.clock);
    }
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{};
    event.events = watched_ = EPOLLOUT;
    event.data.u32 = index_;
    ::epoll_ctl(floor_.epoll, EPOLL_CTL_ADD, socket_, &event);
    link_ = Link::Connecting;
    deadlineMs_ = now.clock.bootMs + kConnectMs;
    ++floor_.connecting;
}

void FloorTable::handshake(const Now& now)
{
    switch (stream_->handshake()) {
        case TlsStream::Progress::Done: break;
        case TlsStream::Progress::WantsRead: return watch(EPOLLIN);
        case TlsStream::Progress::WantsWrite: return watch(EPOLLOUT);
        default:
            floor_.addNote("table " + terms_.id + ": TLS: " + stream_->error());
            return drop(now);
    }
    --floor_.connecting;
    ++floor_.connections;
    link_ = Link::Open;
    session_.onConnected(now.clock);
    flush(now);
}

void FloorTable::drop(const Now& now)
{
    if (link_ == Link::Connecting || link_ == Link::Handshaking) --floor_.connecting;
    stream_.reset();
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    link_ = Link::Down;
    reader_ = {};
    out_.clear();
    outAt_ = 0;
    wantsDrop_ = wantsReadPause_ = wantsDuplicate_ = false;
    if (wrongCount_ == WrongCount::Reported || wrongCount_ == WrongCount::Querying)
        wrongCount_ = WrongCount::None;
    session_.onDisconnected(now.clock);
}

void FloorTable::onReady(std::uint32_t events, const Now& now)
{
    if (link_ == Link::Connecting) {
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error != 0) {
            floor_.addNote("table " + terms_.id + ": no connection: " + std::strerror(error));
            return drop(now);
        }
        stream_.emplace(tls_, std::exchange(socket_, -1), floor_.settings.host);
        link_ = Link::Handshaking;
    }
    if (link_ == Link::Handshaking) return handshake(now);
    if (link_ != Link::Open) return;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) receive(now);
    if (link_ == Link::Open) play(now);
}

void FloorTable::receive(const Now& now)
{
    TlsStream::Progress progress = TlsStream::Progress::Done;
    while (progress == TlsStream::Progress::Done && !session_.mustHangUp()) {
        progress = stream_->read(reader_.buffer(), kReadBytes);
        while (const auto frame = reader_.next()) {
            if (floor_.log) floor_.log->add(FloorLog::Kind::Received, index_, *frame);
            auto* const message =
                google::protobuf::Arena::CreateMessage<v2::ToTable>(&floor_.arena);
            if (message->ParseFromArray(frame->data(), static_cast<int>(frame->size())))
                floor_.books.received(index_, *message, now.ns);
            floor_.arena.Reset();
            session_.onFrame(*frame, now.clock);
        }
        if (reader_.fault() != linkproto::FrameReader::Fault::None) break;
    }
    const bool isOver =
        progress == TlsStream::Progress::Closed || progress == TlsStream::Progress::Failed;
    if (isOver || session_.mustHangUp() || reader_.fault() != linkproto::FrameReader::Fault::None)
        drop(now);
}

void FloorTable::flush(const Now& now)
{
    if (link_ != Link::Open) return;
    session_.takeOutput(out_);
    std::string_view unsent = std::string_view{out_}.substr(outAt_);
    if (!unsent.empty() && stream_->write(unsent) == TlsStream::Progress::Failed) return drop(now);
    outAt_ = out_.size() - unsent.size();
    if (unsent.empty()) {
        out_.clear();
        outAt_ = 0;
    }
    watch(unsent.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

void FloorTable::onTick(const Now& now)
{
    const std::int64_t nowMs = now.clock.bootMs;
    switch (link_) {
        case Link::Down:
            if (nowMs >= session_.nextDeadline() && floor_.connecting < kMaxConnecting)
                connect(now);
            break;
        case Link::Connecting:
        case Link::Handshaking:
        case Link::NotReading:
            if (nowMs >= deadlineMs_) drop(now);
            break;
        case Link::Open:
            if (nowMs < session_.nextDeadline()) break;
            session_.onTick(now.clock);
            if (session_.mustHangUp()) drop(now);
            break;
    }
    if (link_ != Link::NotReading) play(now);
}

void FloorTable::query(const Now& now)
{
    session_.query(now.clock);
    flush(now);
}

void FloorTable::disconnect(const Now& now)
{
    if (link_ == Link::Open) stream_->close();
    drop(now);
}

void FloorTable::onFault(linkproto::TableFault fault, std::string_view detail)
{
    floor_.addNote("table " + terms_.id + ": " + std::string{nameOf(fault)} + ": " +
                   std::string{detail});
}

}  // namespace jackpot::floorsim
