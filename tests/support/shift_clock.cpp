// LD_PRELOAD: the wall clock is off by as many seconds as the file that JACKPOT_CLOCK names says.
#include <dlfcn.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

extern "C" int clock_gettime(clockid_t which, timespec* into)
{
    using Function = int (*)(clockid_t, timespec*);
    static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "clock_gettime"));
    const int done = real(which, into);
    const char* const file = std::getenv("JACKPOT_CLOCK");
    if (done != 0 || which != CLOCK_REALTIME || !file) return done;
    std::ifstream in{file};
    long seconds = 0;
    if (in >> seconds) into->tv_sec += seconds;
    return done;
}
