// Drives the displays that do not poll: writes the published reading to each, when it changes and
// as a heartbeat. One thread for each line. The displays of a line take turns; one that does not
// answer delays the others by at most its timeout, less and less often.
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
#include "meters/published_readings.h"

namespace jackpot::meters {

struct DrivenDisplay {
    std::string id;
    std::size_t pool = 0;  // index among the published readings
    LineAddress line;      // displays with the same address share it
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
    std::optional<std::int64_t> cents;           // none: "no amount" was written
    std::uint16_t status = 0;
    std::uint64_t writes = 0;
    std::uint64_t errors = 0;
    std::string lastError;
};

class Master {
public:
    // After a look at the readings, the next one is at least this much later. Another status is
    // written at once; amounts that follow each other closely, not more often than eyes can see.
    static constexpr std::chrono::milliseconds kMinInterval{25};
    static constexpr std::chrono::milliseconds kBetweenAmounts{100};

    // `readings` outlives it. Reserves descriptors below FD_SETSIZE: make it before tables connect
    // and take them. For more lines, drive() reserves what is still free.
    explicit Master(const PublishedReadings& readings);
    // Writes a fault to each display that answers; that takes a line at most the longest timeout of
    // its displays, after the turn that is under way.
    ~Master();
    Master(const Master&) = delete;
    Master& operator=(const Master&) = delete;

    // Drives these displays and no others from now on. A line whose displays stay the same is not
    // interrupted; one that goes ends as in the destructor. After an error the displays that were
    // driven before still are.
    Result<void> drive(const std::vector<DrivenDisplay>& displays);

    // Any thread. In the order of lines.
    [[nodiscard]] std::vector<DisplayState> states() const;

private:
    class Bus;

    void end(std::vector<std::unique_ptr<Bus>> buses);

    const PublishedReadings& readings_;
    std::vector<LowDescriptor> spare_;
    mutable std::mutex mutex_;  // guards buses_; one thread calls drive()
    std::vector<std::unique_ptr<Bus>> buses_;
};

}  // namespace jackpot::meters
