#include "meters/published_pools.h"

#include <algorithm>
#include <bit>
#include <thread>

namespace jackpot::meters {

PublishedPools::PublishedPools(std::size_t pools) : slots_(pools)
{
    for (std::size_t i = 0; i < pools; ++i) {
        slots_[i].last[address::kVersion] = kMapVersion;
        slots_[i].last[address::kStatus] = status::kFault;
        const auto words = std::bit_cast<std::array<std::uint64_t, kWords>>(slots_[i].last);
        for (std::size_t j = 0; j < kWords; ++j) slots_[i].words[j] = words[j];
    }
}

void PublishedPools::publish(std::size_t pool, const Reading& reading, std::int64_t unixSeconds,
                             Clock::time_point winShownUntil)
{
    Slot& slot = slots_.at(pool);
    const std::int64_t changed =
        (std::int64_t{slot.last[address::kChanged]} << 16) | slot.last[address::kChanged + 1];
    const bool otherAmount = slot.changes == 0 || centsIn(slot.last) != reading.cents;
    if (otherAmount) ++slot.changes;
    slot.last = registersOf(reading, slot.changes, otherAmount ? unixSeconds : changed);

    const auto words = std::bit_cast<std::array<std::uint64_t, kWords>>(slot.last);
    const std::uint32_t version = slot.version.load(std::memory_order_relaxed);
    slot.version.store(version + 1, std::memory_order_relaxed);
    slot.winShownUntil.store(winShownUntil.time_since_epoch().count(), std::memory_order_release);
    for (std::size_t i = 0; i < kWords; ++i)
        slot.words[i].store(words[i], std::memory_order_release);
    slot.version.store(version + 2, std::memory_order_release);
}

void PublishedPools::beginTurn()
{
    Clock::rep none = 0;
    turnSince_.compare_exchange_strong(none, Clock::now().time_since_epoch().count(),
                                       std::memory_order_relaxed);
}

void PublishedPools::endTurn() { turnSince_.store(0, std::memory_order_relaxed); }

Registers PublishedPools::read(std::size_t pool, Clock::time_point now) const
{
    const Slot& slot = slots_.at(pool);
    std::array<std::uint64_t, kWords> words{};
    Clock::rep winShownUntil = 0;
    for (;;) {
        const std::uint32_t before = slot.version.load(std::memory_order_acquire);
        winShownUntil = slot.winShownUntil.load(std::memory_order_acquire);
        for (std::size_t i = 0; i < kWords; ++i)
            words[i] = slot.words[i].load(std::memory_order_acquire);
        const std::uint32_t after = slot.version.load(std::memory_order_relaxed);
        if (before == after && before % 2 == 0) break;
        std::this_thread::yield();
    }
    auto registers = std::bit_cast<Registers>(words);
    std::uint16_t& status = registers[address::kStatus];
    if (now.time_since_epoch().count() < winShownUntil) status |= status::kWinShown;
    const Clock::rep since = turnSince_.load(std::memory_order_relaxed);
    const bool stale = since != 0 && now - Clock::time_point{Clock::duration{since}} > kStaleAfter;
    if (stale || failed_.load(std::memory_order_relaxed)) {
        status |= status::kFault | status::kNoJournal;
        status &= static_cast<std::uint16_t>(~status::kOpen);
    }
    return registers;
}

}  // namespace jackpot::meters
