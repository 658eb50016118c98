// What every listener of the daemon needs of the system.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace jackpot::net {

// A socket that listens, non-blocking. An address or a name; port 0 lets the system choose.
Result<int> listenOn(const std::string& host, std::uint16_t port);
std::uint16_t portOf(int socket);
// As digits: "10.1.2.3"; one of IPv4 reads the same where IPv6 carries it.
std::string addressOf(const sockaddr_storage& address);

}  // namespace jackpot::net
