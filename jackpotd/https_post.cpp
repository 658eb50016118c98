#include "jackpotd/https_post.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/encoding.h"

namespace jackpot {
namespace {

using Clock = std::chrono::steady_clock;
using net::TlsStream;

constexpr std::string_view kScheme = "https://";
constexpr std::chrono::milliseconds kLook{100};  // whether it is to stop

struct Address {
    std::string host;
    std::string port = "443";
    std::string path;
};

Address addressIn(std::string_view url)
{
    if (url.starts_with(kScheme)) url.remove_prefix(kScheme.size());
    const auto slash = std::min(url.find('/'), url.size());
    Address address;
    address.path = url.substr(slash);
    while (address.path.ends_with('/')) address.path.pop_back();
    const std::string_view authority = url.substr(0, slash);
    const auto bracket = authority.rfind(']');
    const auto colon = authority.rfind(':');
    const bool hasPort =
        colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
    address.host = authority.substr(0, hasPort ? colon : authority.size());
    if (hasPort) address.port = authority.substr(colon + 1);
    if (address.host.starts_with('[') && address.host.ends_with(']'))
        address.host = address.host.substr(1, address.host.size() - 2);
    return address;
}

class Waiting {
public:
    Waiting(std::chrono::milliseconds patience, const std::stop_token& stop)
        : until_{Clock::now() + patience}, stop_{stop}
    {}

    // Until the socket can be read or written; an error where time is up.
    [[nodiscard]] Result<void> wait(int socket, short events) const
    {
        while (!stop_.stop_requested()) {
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(until_ - Clock::now());
            if (left.count() <= 0) return Error{"no answer in time"};
            pollfd asked{socket, events, 0};
            if (::poll(&asked, 1, static_cast<int>(std::min(left, kLook).count())) > 0) return {};
        }
        return Error{"the daemon ends"};
    }
    // What a step of TLS waits for; true where it is done.
    [[nodiscard]] Result<bool> after(TlsStream& stream, TlsStream::Progress progress) const
    {
        using enum TlsStream::Progress;
        if (progress == Done) return true;
        if (progress == Closed) return Error{"it hung up"};
        if (progress == Failed) return Error{stream.error()};
        if (auto waited = wait(stream.socket(), progress == WantsRead ? POLLIN : POLLOUT); !waited)
            return waited.error();
        return false;
    }

private:
    Clock::time_point until_;
    const std::stop_token& stop_;
};

Result<int> connected(const Address& address, const Waiting& waiting)
{
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
        error != 0)
        return Error{address.host + ": " + ::gai_strerror(error)};
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all{found, ::freeaddrinfo};
    Result<int> last = Error{"no address"};
    for (const addrinfo* each = all.get(); each != nullptr; each = each->ai_next) {
        const int socket =
            ::socket(each->ai_family, each->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (socket < 0) continue;
        int error = ::connect(socket, each->ai_addr, each->ai_addrlen) == 0 ? 0 : errno;
        Result<void> waited;
        if (error == EINPROGRESS && (waited = waiting.wait(socket, POLLOUT))) {
            socklen_t size = sizeof error;
            ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
        }
        if (error == 0) return socket;
        ::close(socket);
        last = waited ? Error{std::generic_category().message(error)} : waited.error();
    }
    return last;
}

Result<HttpsAnswer> answerIn(const std::string& text)
{
    constexpr std::string_view kVersion = "HTTP/1.1 ";
    const auto end = text.find("\r\n\r\n");
    const auto status = text.starts_with(kVersion) ? parseDecimal(text.substr(kVersion.size(), 3))
                                                   : Result<std::uint64_t>{Error{}};
    if (!status || end == std::string::npos) return Error{"what it answers is not HTTP"};
    return HttpsAnswer{static_cast<int>(*status), text.substr(end + 4)};
}

}  // namespace

Result<HttpsAnswer> httpsPost(const std::string& url, const std::string& path,
                              const net::TlsContext& tls, const std::string& body,
                              std::chrono::milliseconds patience, const std::stop_token& stop)
{
    const Waiting waiting{patience, stop};
    const Address address = addressIn(url);
    const auto socket = connected(address, waiting);
    if (!socket) return socket.error();
    TlsStream stream{tls, *socket, address.host};
    for (Result<bool> done = false; !*done;)
        if (done = waiting.after(stream, stream.handshake()); !done) return done.error();

    const std::string request =
        "POST " + address.path + path + " HTTP/1.1\r\nHost: " + address.host +
        "\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(body.size()) +
        "\r\nConnection: close\r\n\r\n" + body;
    std::string_view rest = request;
    for (Result<bool> done = false; !*done;)
        if (done = waiting.after(stream, stream.write(rest)); !done) return done.error();

    // It says when it is done by hanging up.
    std::string text;
    while (text.size() < kMaxHttpsAnswerBytes) {
        const auto progress = stream.read(text, kMaxHttpsAnswerBytes - text.size());
        if (progress == TlsStream::Progress::Closed) break;
        if (const auto done = waiting.after(stream, progress); !done) return done.error();
    }
    stream.close();
    return answerIn(text);
}

}  // namespace jackpot
