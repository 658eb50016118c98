// A fuzz target stops on the spot, in every build type.
#pragma once

#include <cstdio>
#include <cstdlib>

#define REQUIRE_HOLDS(condition)                                                                \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                                       \
        }                                                                                       \
    } while (false)
