// Drives the displays that do not ask: writes to each what the board shows, when that changes and
// as a heartbeat. A thread for each line; the displays of a line take turns, and one that does not
// answer costs the others at most its timeout, ever more seldom.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "meters/display_format.h"
#include "meters/modbus_line.h"
#include "meters/published_pools.h"

namespace jackpot::meters {

struct DrivenDisplay {
    std::string id;
    std::size_t pool = 0;  // of the board
    LineAddress line;      // displays with the same one share it
    std::uint8_t unit = 1;
    Format format;
    bool readBack = false;
    std::chrono::milliseconds timeout{500};  // for a turn: connecting, all writes, reading back
    std::chrono::milliseconds heartbeat{1000};

    bool operator==(const DrivenDisplay&) const = default;
};

struct DisplayState {
    std::string id;
    bool connected = false;                      // the last turn went well
    std::optional<Clock::time_point> lastWrite;  // that was confirmed, and so are these:
    std::optional<std::int64_t> cents;           // none: it was told of no amount
    std::uint16_t status = 0;
    std::uint64_t writes = 0;
    std::uint64_t errors = 0;
    std::string lastError;
};

class Master {
public:
    // What a display is to show is looked at so often. Another status is written at once; amounts
    // that follow each other closely, not more often than eyes can tell.
    static constexpr std::chrono::milliseconds kTick{25};
    static constexpr std::chrono::milliseconds kBetweenAmounts{100};

    // `board` outlives it. Reserves descriptors below FD_SETSIZE, and so is to be made before
    // tables take them; of more lines than that, drive() reserves what is still to be had.
    explicit Master(const PublishedPools& board);
    // Each display that answers is told of a fault; that takes a line at most the longest timeout
    // of its displays, after the turn that is under way.
    ~Master();
    Master(const Master&) = delete;
    Master& operator=(const Master&) = delete;

    // These and no others from now on. A line whose displays stay all the same does not notice; one
    // that goes ends as in the destructor. After an error what was driven before still is.
    Result<void> drive(const std::vector<DrivenDisplay>& displays);

    // Any thread's. In the order of lines.
    [[nodiscard]] std::vector<DisplayState> states() const;

private:
    class Bus;

    void end(std::vector<std::unique_ptr<Bus>> buses);

    const PublishedPools& board_;
    std::vector<LowDescriptor> spare_;
    mutable std::mutex mutex_;  // of the list; drive() is one thread's
    std::vector<std::unique_ptr<Bus>> buses_;
};

}  // namespace jackpot::meters
