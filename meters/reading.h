// What the daemon publishes of a pool after a commit, in the words of the floor. Registers, JSON
// and metrics are made of it.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rules/money.h"

namespace jackpot::meters {

using Clock = std::chrono::steady_clock;

// The id of a pool or table, in a reading: without a pointer, so that a reading is copied as bytes.
class ReadingId {
public:
    static constexpr std::size_t kMaxBytes = 32;

    constexpr ReadingId() = default;
    // Keeps the first kMaxBytes.
    template <std::convertible_to<std::string_view> Text>
    ReadingId(const Text& text)  // NOLINT(google-explicit-constructor): it is text
    {
        const std::string_view id = std::string_view{text}.substr(0, kMaxBytes);
        std::ranges::copy(id, bytes_.begin());
        size_ = static_cast<std::uint8_t>(id.size());
    }
    [[nodiscard]] std::string_view view() const { return {bytes_.data(), size_}; }

    bool operator==(const ReadingId&) const = default;

private:
    std::array<char, kMaxBytes> bytes_{};
    std::uint8_t size_ = 0;
};

struct LastWin {
    rules::Money amount;
    std::int64_t unixSeconds = 0;
    std::int32_t percent = 0;  // of the pool: 100 or 10
    ReadingId table;

    bool operator==(const LastWin&) const = default;
};

// A win that has taken its money and is not due yet.
struct LockedWin {
    rules::Money amount;
    ReadingId table;

    bool operator==(const LockedWin&) const = default;
};

// Durable and signed. A default reading: nothing has been published yet.
struct PoolReading {
    static constexpr Clock::time_point kNever = Clock::time_point::max();

    ReadingId pool;
    bool open = false;                // else suspended
    bool pending = false;             // a win is locked and not due yet
    bool held = false;                // one waits for Surveillance's ruling
    rules::Money displayed;           // whole cents, never negative
    std::optional<LockedWin> locked;  // the newest that nothing holds
    std::optional<LastWin> lastWin;
    Clock::time_point winShownUntil;
    // From then on the amount may be stale, and displays show the fault.
    Clock::time_point validUntil = kNever;
    // Of the amount: their number since the daemon started, and the time of the last one.
    std::uint32_t changes = 0;
    std::int64_t changedUnixSeconds = 0;

    bool operator==(const PoolReading&) const = default;
};

// What a reading means at one moment.
struct PoolStatus {
    bool open = false;
    bool pending = false;
    bool held = false;
    bool winShown = false;
    bool fault = false;  // the amount may be stale, or none is known
    bool journalUnavailable = false;

    bool operator==(const PoolStatus&) const = default;
};

// "open, jackpot pending"
std::string inWords(const PoolStatus& status);

}  // namespace jackpot::meters
