// The functions of the daemon that the desk uses. Every function may be called from any thread. A
// function that changes something returns when the change is durable and signed, or an error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "console/people/append_event.h"
#include "rules/commands.h"
#include "rules/outcome.h"
#include "rules/state.h"

namespace jackpot::console {

struct Controller {
    // Decides a command of a person. A refusal by the rules is in the outcome; the error means that
    // the daemon or the journal failed.
    std::function<Result<rules::Outcome>(rules::Command)> decide;
    AppendEvent appendEvent;
    // A copy of the state.
    std::function<Result<std::shared_ptr<const rules::State>>()> snapshot;

    // The restore lock: the journal was restored from an old copy, and tables hold receipts for
    // records that it lacks. Two people unlock it by accepting that these records are lost.
    struct Lock {
        std::string why;            // empty: not locked
        std::uint64_t records = 0;  // in the journal
        std::uint64_t size = 0;     // of the largest tree in such a receipt, and its root
        std::string root;
        std::vector<std::string> tables;  // that have shown such a receipt
    };
    std::function<Result<Lock>()> lock;
    struct Acceptance {
        std::uint64_t size = 0;
        std::string root;
        std::vector<std::string> by;
        std::string reason;
    };
    std::function<Result<std::uint64_t>(Acceptance)> acceptRestore;
    // A pool as displays show it, as a JSON object; nothing if the pool is unknown.
    std::function<std::optional<std::string>(const std::string& pool)> poolReading{};
    // The meters and whether their displays are connected, as a JSON object. Non-blocking.
    std::function<std::string()> meters{};
    // The daemon's counters, as a JSON object. Non-blocking.
    std::function<std::string()> status{};

    struct ReloadReport {
        std::vector<std::string> problems{};  // of the configuration file: nothing was applied
        std::vector<std::string> applied{};
        std::vector<std::string> notApplied{};  // with the reasons
    };
    // Reads the configuration and the certificates again. An error: the daemon is ending.
    std::function<Result<ReloadReport>()> reload{};
    // The least settle_after_ms of a pool with this configuration, so that a lost link is known
    // before a win is due. Null: there is no limit but that of the rules.
    std::function<std::int64_t(const rules::PoolConfig& pool)> leastSettleAfterMs{};
};

}  // namespace jackpot::console
