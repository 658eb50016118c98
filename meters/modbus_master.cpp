#include "meters/modbus_master.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

namespace jackpot::meters {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kSpareDescriptors = 32;
constexpr milliseconds kFirstRest{250};
// A display's turns delay the others of its line; a line that is gone delays nobody.
constexpr milliseconds kLongestRest{10'000};
constexpr milliseconds kLongestRestOfLine{2'000};

// The pause after a failure.
class Rest {
public:
    [[nodiscard]] Clock::time_point until() const { return until_; }
    void begin(milliseconds first, milliseconds longest)
    {
        length_ = length_ == milliseconds{} ? first : std::min(2 * length_, longest);
        until_ = Clock::now() + length_;
    }
    // Without making the next one longer.
    void beginShort() { until_ = Clock::now() + kFirstRest; }
    void end() { *this = Rest{}; }
    [[nodiscard]] milliseconds length() const { return length_; }

private:
    milliseconds length_{};
    Clock::time_point until_;
};

}  // namespace

class Master::Bus {
public:
    Bus(const PublishedReadings& readings, std::vector<DrivenDisplay> displays,
        LowDescriptor descriptor)
        : readings_{readings},
          line_{displays.front().line, std::move(descriptor)},
          displays_{displays}
    {
        for (DrivenDisplay& each : displays) {
            states_.emplace_back().id = each.id;
            driven_.emplace_back().display = std::move(each);
        }
        thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
    }

    [[nodiscard]] const std::vector<DrivenDisplay>& displays() const { return displays_; }
    [[nodiscard]] std::vector<DisplayState> states() const
    {
        const std::scoped_lock lock{mutex_};
        return states_;
    }

    void askToStop() { thread_.request_stop(); }
    LowDescriptor stop()
    {
        thread_.request_stop();
        thread_.join();
        return line_.release();
    }

private:
    struct Driven {
        DrivenDisplay display;
        Shown wanted;
        std::optional<Shown> known;  // what it holds, if that is certain
        Clock::time_point lastTurn;
        Rest rest;
    };

    void run(const std::stop_token& stop)
    {
        while (!stop.stop_requested()) {
            const std::uint32_t seen = readings_.changes().count();
            const Clock::time_point now = Clock::now();
            if (Driven* const next = nextInTurn(now)) {
                turn(*next, Clock::now() + next->display.timeout);
                continue;
            }
            sleepUntil(std::min(now + kMinInterval, nextTurnAt_), stop);
            readings_.changes().wait(seen, nextTurnAt_, stop);
        }
        writeFarewell();
    }

    // In rotation, but a display whose status has changed comes before those that can wait. If no
    // display needs a turn now, nextTurnAt_ is when one does, unless its reading changes before.
    Driven* nextInTurn(Clock::time_point now)
    {
        nextTurnAt_ = restOfLine_.until();
        if (now < nextTurnAt_) return nullptr;
        nextTurnAt_ = ChangeSignal::kForever;
        std::optional<std::size_t> next;
        for (std::size_t i = 0; i < driven_.size(); ++i) {
            const std::size_t index = (first_ + i) % driven_.size();
            Driven& each = driven_[index];
            if (now < each.rest.until()) {
                nextTurnAt_ = std::min(nextTurnAt_, each.rest.until());
                continue;
            }
            const DrivenDisplay& display = each.display;
            const PoolReading reading = readings_.read(display.pool);
            each.wanted = shown(reading, readings_.statusAt(reading, now), display.format);
            if (each.known && each.known->status != each.wanted.status) {
                next = index;
                break;
            }
            const bool changed = each.known != each.wanted;
            const Clock::time_point turnAt =
                each.lastTurn + (changed ? kBetweenAmounts : display.heartbeat);
            nextTurnAt_ = std::min(nextTurnAt_, turnAt);
            if (now >= turnAt && !next) next = index;
        }
        if (!next) return nullptr;
        first_ = *next + 1;
        return &driven_[*next];
    }

    void turn(Driven& driven, Clock::time_point deadline)
    {
        driven.lastTurn = Clock::now();
        if (const auto opened = line_.open(deadline); !opened) {
            restOfLine_.begin(kFirstRest, kLongestRestOfLine);
            for (Driven& each : driven_) failed(each, opened.error().message);
            return;
        }
        restOfLine_.end();
        const std::vector<Write> writes =
            writesFor(driven.wanted, driven.known, driven.display.format);
        const bool fitted = !driven.known || driven.known->fits;
        if (const auto done = write(driven.display, writes, deadline); !done) {
            rest(driven);
            failed(driven, done.error().message);
            return;
        }
        driven.rest.end();
        driven.known = driven.wanted;
        const std::scoped_lock lock{mutex_};
        DisplayState& state = stateOf(driven);
        if (!writes.empty()) {
            state.connected = true;
            state.lastWrite = Clock::now();
            state.cents = driven.wanted.cents;
            state.status = driven.wanted.status;
            ++state.writes;
        }
        if (fitted && !driven.wanted.fits) {
            ++state.errors;
            state.lastError = "the amount does not fit its format";
        }
    }

    Result<void> write(const DrivenDisplay& display, const std::vector<Write>& writes,
                       Clock::time_point deadline)
    {
        for (const Write& each : writes) {
            auto done = display.format.oneByOne
                            ? line_.writeOne(display.unit, each.address, each.values[0], deadline)
                            : line_.write(display.unit, each.address, each.values, deadline);
            if (!done) return done;
        }
        return display.readBack ? readBack(display, writes, deadline) : Result<void>{};
    }

    // A register that was written twice, as a guard and then for good, holds the latter.
    Result<void> readBack(const DrivenDisplay& display, const std::vector<Write>& writes,
                          Clock::time_point deadline)
    {
        for (auto each = writes.begin(); each != writes.end(); ++each) {
            if (std::find_if(std::next(each), writes.end(), [&each](const Write& later) {
                    return later.address == each->address;
                }) != writes.end())
                continue;
            if (auto same = line_.readBack(display.unit, each->address, each->values, deadline);
                !same)
                return same;
        }
        return {};
    }

    // Right after one that fails more often, it may only have been disturbed by that one's late
    // reply. It is soon asked again, or the two would go on to fail together. The first rest is
    // such that no late reply is left when the same display is asked again.
    void rest(Driven& driven)
    {
        if (lastFailed_ && lastFailed_ != &driven &&
            lastFailed_->rest.length() > driven.rest.length() &&
            driven.lastTurn < lastFailedAt_ + kFirstRest) {
            driven.rest.beginShort();
            return;
        }
        driven.rest.begin(std::max(kFirstRest, driven.display.timeout), kLongestRest);
        lastFailed_ = &driven;
        lastFailedAt_ = Clock::now();
    }

    void failed(Driven& driven, const std::string& why)
    {
        driven.known.reset();
        const std::scoped_lock lock{mutex_};
        DisplayState& state = stateOf(driven);
        state.connected = false;
        ++state.errors;
        state.lastError = why;
    }

    // Nobody keeps the amounts up to date from now on: writes a fault.
    void writeFarewell()
    {
        milliseconds longest{};
        for (const Driven& each : driven_) longest = std::max(longest, each.display.timeout);
        const Clock::time_point end = Clock::now() + longest;
        for (Driven& each : driven_) {
            const Clock::time_point now = Clock::now();
            if (!each.known || now >= end) continue;
            const PoolReading reading = readings_.read(each.display.pool);
            PoolStatus status = readings_.statusAt(reading, now);
            status.fault = true;
            each.wanted = shown(reading, status, each.display.format);
            turn(each, std::min(now + each.display.timeout, end));
        }
    }

    DisplayState& stateOf(const Driven& driven)
    {
        return states_[static_cast<std::size_t>(&driven - driven_.data())];
    }

    const PublishedReadings& readings_;
    Line line_;
    const std::vector<DrivenDisplay> displays_;
    std::vector<Driven> driven_;
    std::size_t first_ = 0;
    Rest restOfLine_;
    Clock::time_point nextTurnAt_;
    const Driven* lastFailed_ = nullptr;
    Clock::time_point lastFailedAt_;
    mutable std::mutex mutex_;  // of the states
    std::vector<DisplayState> states_;
    std::jthread thread_;
};

Master::Master(const PublishedReadings& readings) : readings_{readings}
{
    while (spare_.size() < kSpareDescriptors) {
        auto reserved = LowDescriptor::reserve();
        if (!reserved) break;
        spare_.push_back(*std::move(reserved));
    }
}

Master::~Master() { end(std::move(buses_)); }

// All at once, since each may have to wait for a display.
void Master::end(std::vector<std::unique_ptr<Bus>> buses)
{
    for (const auto& bus : buses) bus->askToStop();
    for (const auto& bus : buses) spare_.push_back(bus->stop());
}

Result<void> Master::drive(const std::vector<DrivenDisplay>& displays)
{
    std::vector<std::vector<DrivenDisplay>> lines;
    for (const DrivenDisplay& display : displays) {
        if (display.pool >= readings_.size())
            return Error{display.id + ": its pool is not published"};
        if (!isSafe(display.format))
            return Error{display.id +
                         ": an amount that is written in pieces needs a register for the status"};
        const auto same = std::ranges::find_if(
            lines, [&](const auto& line) { return line.front().line == display.line; });
        (same == lines.end() ? lines.emplace_back() : *same).push_back(display);
    }
    const auto isThere = [&](const std::vector<DrivenDisplay>& line) {
        return std::ranges::any_of(buses_,
                                   [&](const auto& bus) { return bus->displays() == line; });
    };
    const auto stays = [&](const std::unique_ptr<Bus>& bus) {
        return std::ranges::find(lines, bus->displays()) != lines.end();
    };
    const auto going = static_cast<std::size_t>(
        std::ranges::count_if(buses_, [&](const auto& bus) { return !stays(bus); }));
    const auto coming = static_cast<std::size_t>(
        std::ranges::count_if(lines, [&](const auto& line) { return !isThere(line); }));
    while (spare_.size() + going < coming) {
        auto reserved = LowDescriptor::reserve();
        if (!reserved) return reserved.error();
        spare_.push_back(*std::move(reserved));
    }

    std::unique_lock lock{mutex_};
    const auto firstGoing = std::stable_partition(buses_.begin(), buses_.end(), stays);
    std::vector<std::unique_ptr<Bus>> gone{std::move_iterator{firstGoing},
                                           std::move_iterator{buses_.end()}};
    buses_.erase(firstGoing, buses_.end());
    lock.unlock();
    end(std::move(gone));
    lock.lock();
    for (auto& line : lines) {
        if (isThere(line)) continue;
        LowDescriptor descriptor = std::move(spare_.back());
        spare_.pop_back();
        buses_.push_back(std::make_unique<Bus>(readings_, std::move(line), std::move(descriptor)));
    }
    return {};
}

std::vector<DisplayState> Master::states() const
{
    const std::scoped_lock lock{mutex_};
    std::vector<DisplayState> all;
    for (const auto& bus : buses_) std::ranges::copy(bus->states(), std::back_inserter(all));
    return all;
}

}  // namespace jackpot::meters
