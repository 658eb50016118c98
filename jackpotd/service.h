// systemd's notifications and inherited sockets. Without systemd the notifications do nothing. Used
// by main's thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jackpot::service {

// The status line of `systemctl status`.
void setStatus(std::string_view status);
// Every listener is open: units that are ordered after the daemon may start.
void ready();
// Call ready() when the reload is done.
void reloading();
void stopping();

// Feeds systemd's watchdog while the writer takes turns: a writer whose commit hangs, or a main
// loop that hangs, lets it expire.
class Watchdog {
public:
    Watchdog();
    // `turns` is the writer's count; nothing is fed if it has not changed.
    void feed(std::uint64_t turns);

private:
    bool wanted_;
    std::uint64_t fed_ = 0;
};

// The listening TCP socket, non-blocking, that a socket unit passes under this name
// (FileDescriptorName=). The caller closes it.
Result<int> inheritedSocket(const std::string& name);

}  // namespace jackpot::service
