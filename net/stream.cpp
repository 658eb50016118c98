#include "net/stream.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace jackpot::net {
namespace {

bool mustWait() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

PlainStream::~PlainStream() { ::close(socket_); }

Stream::Progress PlainStream::read(std::string& into, std::size_t maxBytes)
{
    std::array<char, 16U << 10U> piece;
    const ssize_t got = ::recv(socket_, piece.data(), std::min(piece.size(), maxBytes), 0);
    if (got < 0) return mustWait() ? Progress::WantsRead : Progress::Failed;
    into.append(piece.data(), static_cast<std::size_t>(got));
    return got > 0 || maxBytes == 0 ? Progress::Done : Progress::Closed;
}

Stream::Progress PlainStream::write(std::string_view& from)
{
    while (!from.empty()) {
        const ssize_t sent = ::send(socket_, from.data(), from.size(), MSG_NOSIGNAL);
        if (sent < 0) return mustWait() ? Progress::WantsWrite : Progress::Failed;
        from.remove_prefix(static_cast<std::size_t>(sent));
    }
    return Progress::Done;
}

void PlainStream::close() { ::shutdown(socket_, SHUT_WR); }

}  // namespace jackpot::net
