// Listening sockets and addresses of clients.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace jackpot::net {

// Returns a non-blocking, listening socket that the caller must close. `host` is an address or a
// name, of which the first address that can be bound is used. Port 0 lets the system choose a port.
Result<int> listenOn(const std::string& host, std::uint16_t port);
// The file name of the daemon's Unix socket, in the journal's directory.
inline constexpr const char* kLocalSocketName = "control.sock";
// A Unix socket that only this process's user and root can connect to. Replaces a file that an
// ended process has left at the path.
Result<int> listenOnPath(const std::filesystem::path& path);
std::uint16_t portOf(int socket);
// The address as text, without the port: "10.1.2.3". An IPv4 address that is mapped into IPv6
// ("::ffff:10.1.2.3") is returned as IPv4, a Unix socket as "local".
std::string addressOf(const sockaddr_storage& address);

}  // namespace jackpot::net
