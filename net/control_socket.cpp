#include "net/control_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace jackpot::net {
namespace {

constexpr std::size_t kMaxRequestBytes = 4096;
constexpr std::size_t kMaxAnswerBytes = 1U << 20U;
constexpr int kDawdleMs = 1000;
constexpr int kAnswerMs = 30'000;

Result<sockaddr_un> addressOf(const std::filesystem::path& path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string text = path.string();
    if (text.size() >= sizeof address.sun_path)
        return Error{text + ": too long a path for a socket: use a shorter journal directory"};
    std::memcpy(static_cast<void*>(address.sun_path), text.data(), text.size());
    return address;
}

const sockaddr* generic(const sockaddr_un& address)
{
    return reinterpret_cast<const sockaddr*>(&address);
}

// Until the end, a newline where one is asked for, the limit, or so long after it has begun.
std::string readText(int descriptor, std::size_t most, bool oneLine, int timeoutMs)
{
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::milliseconds{timeoutMs};
    std::string text;
    while (text.size() < most && !(oneLine && text.ends_with('\n'))) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
        pollfd waiting{descriptor, POLLIN, 0};
        if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(left)) <= 0) break;
        std::array<char, 4096> piece{};
        const ssize_t got = ::read(descriptor, piece.data(), piece.size());
        if (got <= 0) break;
        text.append(piece.data(), static_cast<std::size_t>(got));
    }
    return text;
}

void writeText(int descriptor, std::string_view text)
{
    while (!text.empty()) {
        const ssize_t put = ::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL);
        if (put <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(put));
    }
}

}  // namespace

Result<ControlSocket> ControlSocket::listen(const std::filesystem::path& directory)
{
    const std::filesystem::path path = directory / kControlName;
    const auto address = addressOf(path);
    if (!address) return address.error();
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // The journal's lock says that no other daemon is using what is left there.
    ::unlink(path.c_str());
    const mode_t before = ::umask(0077);
    const bool bound = descriptor >= 0 &&
                       ::bind(descriptor, generic(*address), sizeof *address) == 0 &&
                       ::listen(descriptor, 8) == 0;
    const std::string why = std::strerror(errno);
    ::umask(before);
    if (bound) return ControlSocket{descriptor, path};
    if (descriptor >= 0) ::close(descriptor);
    return Error{path.string() + ": " + why};
}

ControlSocket::ControlSocket(ControlSocket&& other) noexcept
    : descriptor_{std::exchange(other.descriptor_, -1)}, path_{std::move(other.path_)}
{}

ControlSocket::~ControlSocket()
{
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(path_.c_str());
}

void ControlSocket::answer(const std::function<std::string(const std::string&)>& handle) const
{
    const int client = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const timeval dawdle{kDawdleMs / 1000, 0};
    ::setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &dawdle, sizeof dawdle);
    std::string request = readText(client, kMaxRequestBytes, true, kDawdleMs);
    if (request.ends_with('\n')) {
        request.pop_back();
        writeText(client, handle(request));
    }
    ::close(client);
}

Result<std::string> askDaemon(const std::filesystem::path& directory, const std::string& request)
{
    const std::filesystem::path path = directory / kControlName;
    const auto address = addressOf(path);
    if (!address) return address.error();
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0 || ::connect(descriptor, generic(*address), sizeof *address) != 0) {
        const std::string why = std::strerror(errno);
        if (descriptor >= 0) ::close(descriptor);
        return Error{path.string() + ": no daemon answers: " + why};
    }
    writeText(descriptor, request + "\n");
    std::string answer = readText(descriptor, kMaxAnswerBytes, false, kAnswerMs);
    ::close(descriptor);
    if (answer.empty()) return Error{path.string() + ": the daemon gave no answer"};
    return answer;
}

}  // namespace jackpot::net
