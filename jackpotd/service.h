// What systemd is told, and what it hands over. A daemon that systemd did not start tells nobody.
// One thread: main's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jackpot::service {

// A line that `systemctl status` shows.
void say(std::string_view status);
// Everything is open: whoever was ordered after the daemon may come.
void ready();
// To be followed by ready().
void reloading();
void stopping();

// Fed with the writer's turns. It is passed on only where there were some since the last time, so
// that a writer whose commit hangs is seen as the hung daemon it is; a main that no longer listens
// to signals is too.
class Watchdog {
public:
    Watchdog();
    void feed(std::uint64_t turns);

private:
    bool wanted_;
    std::uint64_t fed_ = 0;
};

// The listening TCP socket, non-blocking, that a socket unit hands over under this name
// (FileDescriptorName=). The caller's to close.
Result<int> inheritedSocket(const std::string& name);

}  // namespace jackpot::service
