#include "jackpotd/service.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <cstdlib>
#include <ctime>
#include <optional>
#include <sstream>

namespace jackpot::service {
namespace {

void notify(const std::string& message) { ::sd_notify(0, message.c_str()); }

}  // namespace

void setStatus(std::string_view status)
{
    std::string message = "STATUS=";
    // Text from a peer must not add a line to the message.
    for (const char c : status) message += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    notify(message);
}

void ready() { notify("READY=1"); }

void reloading()
{
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    // systemd from 253 on needs the time to match the answer to its request.
    const std::int64_t usec =
        static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
    notify("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(usec));
}

void stopping() { notify("STOPPING=1"); }

Watchdog::Watchdog() : wanted_{::sd_watchdog_enabled(0, nullptr) > 0} {}

void Watchdog::feed(std::uint64_t turns)
{
    if (!wanted_ || turns == fed_) return;
    fed_ = turns;
    notify("WATCHDOG=1");
}

Result<int> inheritedSocket(const std::string& name)
{
    const std::string what = "systemd:" + name + ": ";
    // 0 if the sockets are meant for another process.
    const int count = ::sd_listen_fds(0);
    const char* const given = std::getenv("LISTEN_FDNAMES");
    std::istringstream names{given ? given : ""};
    std::string each;
    std::optional<int> found;
    for (int i = 0; i < count && !found && std::getline(names, each, ':'); ++i)
        if (each == name) found = SD_LISTEN_FDS_START + i;
    if (!found)
        return Error{what +
                     "systemd has passed no socket of this name: systemctl enable --now "
                     "jackpotd-modbus.socket, or name an address and port (see docs/service.md)"};
    if (::sd_is_socket_inet(*found, AF_UNSPEC, SOCK_STREAM, 1, 0) <= 0)
        return Error{what + "it is not a listening TCP socket: the unit needs ListenStream=502"};
    const int flags = ::fcntl(*found, F_GETFL);
    if (flags < 0 || ::fcntl(*found, F_SETFL, flags | O_NONBLOCK) != 0)
        return Error{what + "it cannot be made non-blocking"};
    return *found;
}

}  // namespace jackpot::service
