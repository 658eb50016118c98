#include "jackpotd/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace jackpot {

Signals::Signals()
{
    sigset_t signals{};
    ::sigemptyset(&signals);
    for (const int each : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, each);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    descriptor_ = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

Signals::~Signals() { ::close(descriptor_); }

std::optional<Signals::Signal> Signals::next() const
{
    signalfd_siginfo info{};
    if (::read(descriptor_, &info, sizeof info) != sizeof info) return std::nullopt;
    return Signal{info.ssi_signo == SIGHUP, static_cast<pid_t>(info.ssi_pid)};
}

}  // namespace jackpot
