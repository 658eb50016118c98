// The writer's counters. The thread that has the turn counts, any thread reads. Relaxed loads and
// stores, no atomic read-modify-write: counting adds almost no cost to a command.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "rules/commands.h"
#include "rules/money.h"
#include "rules/outcome.h"

namespace jackpot {

class Count {
public:
    void add(std::uint64_t more = 1) { set(value() + more); }
    void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

// Counts values by upper bounds, which are in ascending order.
template <std::size_t N>
class Histogram {
public:
    explicit Histogram(const std::array<std::uint64_t, N>& bounds) : bounds_{bounds} {}

    void add(std::uint64_t value)
    {
        const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
        counts_[static_cast<std::size_t>(bucket)].add();
        sum_.add(value);
    }
    [[nodiscard]] const std::array<std::uint64_t, N>& bounds() const { return bounds_; }
    // counts()[i]: values above bounds()[i - 1] and up to bounds()[i]; the last: values above all.
    [[nodiscard]] const std::array<Count, N + 1>& counts() const { return counts_; }
    [[nodiscard]] std::uint64_t sum() const { return sum_.value(); }

private:
    std::array<std::uint64_t, N> bounds_;
    std::array<Count, N + 1> counts_;
    Count sum_;
};

template <std::size_t N>
std::uint64_t sumOf(const std::array<Count, N>& counts)
{
    std::uint64_t sum = 0;
    for (const Count& each : counts) sum += each.value();
    return sum;
}

// An alarm with another code is counted as "other".
inline constexpr std::array<std::string_view, 12> kAlarmCodes{
    "commands_lost", "conflict",    "malformed_command", "journal_does_not_verify",
    "meter_silent",  "receipt",     "refusals",          "table_offline",
    "too_fast",      "wager_count", "witness",           "other"};

inline std::size_t alarmIndex(std::string_view code)
{
    const auto at = std::ranges::find(kAlarmCodes, code) - kAlarmCodes.begin();
    return std::min(static_cast<std::size_t>(at), kAlarmCodes.size() - 1);
}

struct WriterMetrics {
    static constexpr std::size_t kRefusalCodes =
        static_cast<std::size_t>(rules::RefusalCode::AwardPaid) + 1;

    struct Decided {
        Count accepted;
        Count refused;
    };
    std::array<Decided, std::variant_size_v<rules::Command>>
        decided;  // by the index of the command
    std::array<Count, kRefusalCodes> refusals;
    std::array<Count, 5> rejected;  // by linkproto::RejectionReason
    std::array<Count, kAlarmCodes.size()> alarms;
    Count repeated;
    Count failedReads;  // of the journal, each of which has disconnected a table
    // Turns of the writer's own thread: at least one a second, unless a commit hangs.
    Count turns;
    Histogram<14> commitUs{{100, 200, 500, 1'000, 2'000, 5'000, 10'000, 20'000, 50'000, 100'000,
                            200'000, 500'000, 1'000'000, 5'000'000}};
    Histogram<11> batch{{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}};  // records in a commit
    Count records;
    Count lastCommitMs;       // since the epoch, by the journal's clock
    std::size_t mailbox = 0;  // capacity; constant

    [[nodiscard]] std::uint64_t commands() const
    {
        std::uint64_t sum = 0;
        for (const Decided& each : decided) sum += each.accepted.value() + each.refused.value();
        return sum;
    }
    void count(const rules::Command& command, const rules::Outcome& outcome)
    {
        Decided& kind = decided.at(command.index());
        if (!outcome.refusal) return kind.accepted.add();
        kind.refused.add();
        const auto code = static_cast<std::size_t>(outcome.refusal->code);
        if (code < refusals.size()) refusals[code].add();
    }
    void countCommit(std::uint64_t size, std::chrono::steady_clock::duration took,
                     std::uint64_t recordsNow, rules::TimeMs now)
    {
        batch.add(size);
        commitUs.add(static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
        records.set(recordsNow);
        lastCommitMs.set(static_cast<std::uint64_t>(now));
    }
};

// What a pool's reading lacks, as of the last commit.
struct PoolMetrics {
    std::string pool;
    rules::Money reserve;
    std::size_t tables = 0;
    std::size_t tablesOffline = 0;
    std::size_t tablesSuspended = 0;
};

}  // namespace jackpot
