#include "tools/cli/interrupts.h"

#include <csignal>

#include "tools/cli/command_error.h"

namespace jackpot::cli {
namespace {

volatile std::sig_atomic_t signalled = 0;

}  // namespace

void catchInterrupts()
{
    struct sigaction action {};
    action.sa_handler = [](int) { signalled = 1; };
    for (const int number : {SIGINT, SIGTERM}) {
        struct sigaction before {};
        // A background job of a shell has SIGINT ignored: keep that.
        if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
            ::sigaction(number, &action, nullptr);
    }
}

bool isInterrupted() { return signalled != 0; }

void throwIfInterrupted()
{
    if (isInterrupted()) throw CommandError{kInterrupted, "interrupted"};
}

}  // namespace jackpot::cli
