// Waiting for what another thread does.
#pragma once

#include <chrono>
#include <thread>

namespace jackpot {

// Whether the condition holds within the timeout.
template <class Condition>
bool eventually(const Condition& condition,
                std::chrono::milliseconds timeout = std::chrono::seconds{20})
{
    const auto end = std::chrono::steady_clock::now() + timeout;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    return true;
}

}  // namespace jackpot
