// Termination and reload signals, read from a descriptor instead of handled.
#pragma once

#include <sys/types.h>

#include <optional>

namespace jackpot {

class Signals {
public:
    // Blocks the signals in this thread and in all threads that it starts from here on.
    Signals();
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    ~Signals();

    [[nodiscard]] int descriptor() const { return descriptor_; }
    struct Signal {
        bool isReload = false;  // SIGHUP; otherwise SIGTERM or SIGINT
        pid_t sender = 0;
    };
    // The next one that has arrived, if any.
    [[nodiscard]] std::optional<Signal> next() const;

private:
    int descriptor_;
};

}  // namespace jackpot
