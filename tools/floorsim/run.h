// The simulated floor: many tables over the real link, driven by one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/floorsim/books.h"
#include "tools/floorsim/plan.h"

namespace jackpot::floorsim {

struct FloorSettings {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
    std::filesystem::path pki;
    std::vector<PoolTerms> pools;  // empty: the pools that the daemon names
    std::vector<TableTerms> tables;
    bool isConfigured = true;  // pools and tables are from the daemon's configuration

    PlanSettings plan;
    std::optional<std::int64_t> seconds;
    std::int64_t warmupS = 0;
    std::optional<double> roundsPerMinute;  // of each table
    std::size_t inFlight = 1;
    bool simultaneous = false;     // dealers press the button without regard to other tables
    std::filesystem::path outbox;  // directory; empty: outboxes in memory
    bool resume = false;
    std::int64_t timeoutS = 10;
    Books::Checks checks;
};

struct FaultsInjected {
    std::uint64_t disconnects = 0;
    std::uint64_t resends = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t voids = 0;
    std::uint64_t corrections = 0;
    std::uint64_t suspends = 0;
    std::uint64_t lateResults = 0;
    std::uint64_t latePresses = 0;
    std::uint64_t wrongCounts = 0;
    std::uint64_t forcedJackpots = 0;
};

// The state of a run, while it runs and at its end.
struct FloorView {
    const Books& books;
    const char* phase = "";
    std::size_t online = 0;
    std::uint64_t connections = 0;  // made
    std::uint64_t faultsSeen = 0;   // faults that the table's side reported: see notes
    FaultsInjected injected;
    double elapsedS = 0;       // length of the measured time
    std::uint64_t rounds = 0;  // in the measured time
    std::uint64_t commands = 0;
    double cpuS = 0;
};

struct FloorResult {
    FloorView view;
    bool wasInterrupted = false;
    std::vector<std::string> notes;  // faults of links
};

// run() plays until the end. `interrupt` 1 finishes open rounds first, 2 ends at once. open()
// returns an error if the run cannot start. `show` is called a few times per second.
class Floor {
public:
    static Result<std::unique_ptr<Floor>> open(FloorSettings settings);
    virtual ~Floor() = default;
    virtual FloorResult run(const std::atomic<int>& interrupt,
                            const std::function<void(const FloorView&)>& show) = 0;
    virtual Books& books() = 0;
};

}  // namespace jackpot::floorsim
