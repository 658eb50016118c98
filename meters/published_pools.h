// What displays may show. The writer puts there what is durable and signed, and nothing else; every
// other thread reads, without ever making the writer wait.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "meters/registers.h"

namespace jackpot::meters {

using Clock = std::chrono::steady_clock;

class PublishedPools {
public:
    // Where something waits longer than this to be decided and made durable, amounts may be stale.
    // Displays are to know within 200 ms, and one that is driven is looked at every 25.
    static constexpr std::chrono::milliseconds kStaleAfter{120};

    // For at most so many pools; until one is published it shows a fault and no amount.
    explicit PublishedPools(std::size_t pools);

    // The writer's. What is published is durable; `winShownUntil` is for the reading's last win.
    void publish(std::size_t pool, const Reading& reading, std::int64_t unixSeconds,
                 Clock::time_point winShownUntil);
    // Something waits to be decided, from now on unless it has been so already; and nothing does.
    void beginTurn();
    void endTurn();
    // The journal cannot be written or is not to be trusted; and people have settled that.
    void fail() { failed_.store(true); }
    void recover() { failed_.store(false); }

    // Any thread's. Of one moment; fit to be shown at `now`.
    [[nodiscard]] Registers read(std::size_t pool, Clock::time_point now) const;
    [[nodiscard]] std::size_t size() const { return slots_.size(); }

private:
    static constexpr std::size_t kWords = kRegisters / 4;
    static_assert(kWords * 4 == kRegisters);

    // `version` is odd while the words are being written. Each word is released, so that a reader
    // that finds a new one also finds the version that came before it.
    struct Slot {
        std::atomic<std::uint32_t> version{0};
        std::array<std::atomic<std::uint64_t>, kWords> words{};
        std::atomic<Clock::rep> winShownUntil{0};
        // The writer's own.
        Registers last{};
        std::uint32_t changes = 0;
    };

    std::vector<Slot> slots_;
    std::atomic<Clock::rep> turnSince_{0};  // 0 where there is none
    std::atomic<bool> failed_{false};
};

}  // namespace jackpot::meters
