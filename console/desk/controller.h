// What the desk asks of the daemon. Every call is from any thread and returns when what it asked
// for is durable and signed, or says why it is not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rules/commands.h"
#include "rules/outcome.h"
#include "rules/state.h"
#include "storage/json_text.h"

namespace jackpot::console {

struct Controller {
    using Fields = std::function<void(storage::JsonText&)>;

    // A command of people. A refusal is in the outcome; an error is the daemon's or the journal's.
    std::function<Result<rules::Outcome>(rules::Command)> decide;
    // A plain record (kind in the past tense, such as "person_signed_in") and its number. Its keys
    // are none of a command's outcome ("command", "refused", "pools", ...): nobody could open a
    // journal with such a record.
    std::function<Result<std::uint64_t>(std::string kind, Fields fields)> note;
    // A copy of the state.
    std::function<Result<std::shared_ptr<const rules::State>>()> look;

    // Whether it is locked because tables have receipts that this journal never gave, and how two
    // people accept that those are of a history that is lost.
    struct Lock {
        std::string why;            // empty where it is not locked
        std::uint64_t records = 0;  // of the journal
        std::uint64_t size = 0;     // of the largest tree in such a receipt, and its root
        std::string root;
        std::vector<std::string> tables;  // that have shown one
    };
    std::function<Result<Lock>()> lock;
    struct Acceptance {
        std::uint64_t size = 0;
        std::string root;
        std::vector<std::string> by;
        std::string reason;
    };
    std::function<Result<std::uint64_t>(Acceptance)> acceptRestore;
    // What displays show of a pool, as one JSON object; nothing where there is no such pool.
    std::function<std::optional<std::string>(const std::string& pool)> shown{};
    // The meters of the floor and whether anyone sees them, as one JSON object.
    std::function<std::string()> meters{};
};

}  // namespace jackpot::console
