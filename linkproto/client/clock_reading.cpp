#include "linkproto/client/clock_reading.h"

#include <ctime>
#include <fstream>

namespace jackpot::linkproto {
namespace {

std::int64_t read(clockid_t clock)
{
    timespec time{};
    clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

}  // namespace

ClockReading ClockReading::now()
{
    return {.bootMs = read(CLOCK_BOOTTIME), .wallMs = read(CLOCK_REALTIME)};
}

std::string bootId()
{
    std::string id;
    std::ifstream{"/proc/sys/kernel/random/boot_id"} >> id;
    return id;
}

}  // namespace jackpot::linkproto
