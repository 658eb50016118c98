// LD_PRELOAD: writes each listen() to the file that JACKPOT_LISTENING names, then sleeps a while,
// so that code that does not wait for it runs too early.
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

extern "C" int listen(int descriptor, int waiting) noexcept
{
    using Function = int (*)(int, int);
    static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "listen"));
    if (const char* const file = std::getenv("JACKPOT_LISTENING")) {
        sockaddr_storage address{};
        socklen_t size = sizeof address;
        ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
        std::ofstream{file, std::ios::app} << (address.ss_family == AF_UNIX ? "control" : "network")
                                           << std::endl;
        ::usleep(300'000);
    }
    return real(descriptor, waiting);
}
