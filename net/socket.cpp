#include "net/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

namespace jackpot::net {

std::string addressOf(const sockaddr_storage& address)
{
    if (address.ss_family == AF_UNIX) return "local";
    std::array<char, NI_MAXHOST> host{};
    if (::getnameinfo(reinterpret_cast<const sockaddr*>(&address), sizeof address, host.data(),
                      host.size(), nullptr, 0, NI_NUMERICHOST) != 0)
        return "?";
    constexpr std::string_view kMapped = "::ffff:";
    const std::string_view digits{host.data()};
    return std::string{digits.starts_with(kMapped) ? digits.substr(kMapped.size()) : digits};
}

Result<int> listenOn(const std::string& host, std::uint16_t port)
{
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const std::string service = std::to_string(port);
    if (const int error = ::getaddrinfo(host.c_str(), service.c_str(), &hints, &found); error != 0)
        return Error{host + ": " + ::gai_strerror(error)};
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses{found, ::freeaddrinfo};
    int error = 0;
    for (const addrinfo* each = found; each; each = each->ai_next) {
        const int socket = ::socket(each->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        const int on = 1;
        if (socket >= 0) ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (socket >= 0 && ::bind(socket, each->ai_addr, each->ai_addrlen) == 0 &&
            ::listen(socket, SOMAXCONN) == 0)
            return socket;
        error = errno;
        if (socket >= 0) ::close(socket);
    }
    return Error{host + ":" + service + ": cannot listen: " + std::strerror(error)};
}

Result<int> listenOnPath(const std::filesystem::path& path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string text = path.string();
    if (text.size() >= sizeof address.sun_path)
        return Error{text + ": too long a path for a socket: use a shorter journal directory"};
    std::memcpy(static_cast<void*>(address.sun_path), text.data(), text.size());
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ::unlink(path.c_str());
    // On Linux the mode of the socket becomes the mode of the file.
    if (socket >= 0 && ::fchmod(socket, S_IRUSR | S_IWUSR) == 0 &&
        ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        ::listen(socket, SOMAXCONN) == 0)
        return socket;
    const std::string why = std::strerror(errno);
    if (socket >= 0) ::close(socket);
    return Error{text + ": " + why};
}

std::uint16_t portOf(int socket)
{
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.ss_family == AF_INET6
                     ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                     : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace jackpot::net
