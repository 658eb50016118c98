#include "meters/published_readings.h"

#include <algorithm>
#include <cstring>

namespace jackpot::meters {

PublishedReadings::PublishedReadings(std::size_t pools) : slots_(pools)
{
    for (Slot& slot : slots_) {
        Words words{};
        std::memcpy(words.data(), &slot.last, sizeof words);
        for (std::size_t i = 0; i < kWords; ++i) slot.words[i] = words[i];
    }
    thread_ = std::jthread{[this](const std::stop_token& stop) { announceTimedChanges(stop); }};
}

void PublishedReadings::publish(std::size_t pool, PoolReading reading, std::int64_t unixSeconds)
{
    Slot& slot = slots_.at(pool);
    const bool isOtherAmount = slot.last.changes == 0 || slot.last.displayed != reading.displayed;
    reading.changes = slot.last.changes + (isOtherAmount ? 1 : 0);
    reading.changedUnixSeconds = isOtherAmount ? unixSeconds : slot.last.changedUnixSeconds;
    slot.last = reading;

    Words words{};
    std::memcpy(words.data(), &reading, sizeof words);
    const std::uint32_t version = slot.version.load(std::memory_order_relaxed);
    slot.version.store(version + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < kWords; ++i)
        slot.words[i].store(words[i], std::memory_order_release);
    slot.version.store(version + 2, std::memory_order_release);
    for (const Clock::time_point each : {reading.winShownUntil, reading.validUntil})
        if (each != PoolReading::kNever && each > Clock::now()) nextTimedChange_.wakeAt(each);
}

// Most turns end before they are stale: the thread is woken at that time, not now.
void PublishedReadings::beginTurn()
{
    Clock::rep none = 0;
    const Clock::time_point now = Clock::now();
    if (turnSince_.compare_exchange_strong(none, now.time_since_epoch().count()))
        nextTimedChange_.wakeAt(now + kStaleAfter + Clock::duration{1});
}

void PublishedReadings::endTurn()
{
    if (isStale(turnSince_.exchange(0), Clock::now())) announce();
}

void PublishedReadings::setFailed(bool failed)
{
    failed_.store(failed);
    announce();
}

PoolReading PublishedReadings::read(std::size_t pool, std::uint32_t* version) const
{
    const Slot& slot = slots_.at(pool);
    Words words{};
    for (;;) {
        const std::uint32_t before = slot.version.load(std::memory_order_acquire);
        for (std::size_t i = 0; i < kWords; ++i)
            words[i] = slot.words[i].load(std::memory_order_acquire);
        const std::uint32_t after = slot.version.load(std::memory_order_relaxed);
        if (version) *version = after;
        if (before == after && before % 2 == 0) break;
        std::this_thread::yield();
    }
    PoolReading reading;
    std::memcpy(static_cast<void*>(&reading), words.data(), sizeof words);
    return reading;
}

PoolStatus PublishedReadings::statusAt(const PoolReading& reading, Clock::time_point now) const
{
    PoolStatus status{.open = reading.open,
                      .pending = reading.pending,
                      .held = reading.held,
                      .winShown = now < reading.winShownUntil,
                      .fault = reading.changes == 0};
    if (isStale(turnSince_.load(std::memory_order_relaxed), now) || now >= reading.validUntil ||
        failed_.load(std::memory_order_relaxed)) {
        status.fault = status.journalUnavailable = true;
        status.open = false;
    }
    return status;
}

bool PublishedReadings::isStale(Clock::rep turnSince, Clock::time_point now) const
{
    return turnSince != 0 && now - Clock::time_point{Clock::duration{turnSince}} > kStaleAfter;
}

Clock::time_point PublishedReadings::nextDeadline(Clock::time_point now) const
{
    Clock::time_point next = PoolReading::kNever;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (version(i) == 0) continue;
        const PoolReading reading = read(i);
        for (const Clock::time_point each : {reading.winShownUntil, reading.validUntil})
            if (each > now) next = std::min(next, each);
    }
    return next;
}

void PublishedReadings::announceTimedChanges(const std::stop_token& stop)
{
    Clock::rep announcedTurn = 0;
    Clock::time_point deadline = PoolReading::kNever;
    while (!stop.stop_requested()) {
        const Clock::rep since = turnSince_.load();
        const Clock::time_point now = Clock::now();
        const bool isStaleNow = isStale(since, now);
        if ((isStaleNow && since != announcedTurn) || now >= deadline) announce();
        if (isStaleNow) announcedTurn = since;
        deadline = nextDeadline(now);
        nextTimedChange_.wakeAt(deadline);
        if (since != 0 && !isStaleNow)
            nextTimedChange_.wakeAt(Clock::time_point{Clock::duration{since}} + kStaleAfter +
                                    Clock::duration{1});
        nextTimedChange_.sleep(stop);
    }
}

}  // namespace jackpot::meters
