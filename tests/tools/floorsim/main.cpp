#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <csignal>

int main(int argc, char** argv)
{
    std::signal(SIGPIPE, SIG_IGN);  // as floorsim and jackpotd do: links are cut here
    return doctest::Context{argc, argv}.run();
}
