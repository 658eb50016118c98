#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <csignal>

int main(int argc, char** argv)
{
    std::signal(
        SIGPIPE,
        SIG_IGN);  // like floorsim and jackpotd: writes to cut links must not end the process
    return doctest::Context{argc, argv}.run();
}
