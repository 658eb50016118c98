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

void tell(const std::string& message) { ::sd_notify(0, message.c_str()); }

}  // namespace

void say(std::string_view status)
{
    std::string message = "STATUS=";
    // What a peer sent must not become a message of its own.
    for (const char c : status) message += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    tell(message);
}

void ready() { tell("READY=1"); }

void reloading()
{
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    // systemd from 253 on wants to know which of several requests this one answers.
    const std::int64_t usec =
        static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
    tell("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(usec));
}

void stopping() { tell("STOPPING=1"); }

Watchdog::Watchdog() : wanted_{::sd_watchdog_enabled(0, nullptr) > 0} {}

void Watchdog::feed(std::uint64_t turns)
{
    if (!wanted_ || turns == fed_) return;
    fed_ = turns;
    tell("WATCHDOG=1");
}

Result<int> inheritedSocket(const std::string& name)
{
    const std::string what = "systemd:" + name + ": ";
    // It says so only where they are meant for this process.
    const int count = ::sd_listen_fds(0);
    const char* const given = std::getenv("LISTEN_FDNAMES");
    std::istringstream names{given ? given : ""};
    std::string each;
    std::optional<int> found;
    for (int i = 0; i < count && !found && std::getline(names, each, ':'); ++i)
        if (each == name) found = SD_LISTEN_FDS_START + i;
    if (!found)
        return Error{what +
                     "systemd has handed over no socket of this name: systemctl enable --now "
                     "jackpotd-modbus.socket, or name an address and port (see docs/service.md)"};
    if (::sd_is_socket_inet(*found, AF_UNSPEC, SOCK_STREAM, 1, 0) <= 0)
        return Error{what + "it is no TCP socket that listens: the unit takes ListenStream=502"};
    const int flags = ::fcntl(*found, F_GETFL);
    if (flags < 0 || ::fcntl(*found, F_SETFL, flags | O_NONBLOCK) != 0)
        return Error{what + "it cannot be made non-blocking"};
    return *found;
}

}  // namespace jackpot::service
