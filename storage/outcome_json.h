// Outcomes as JSON: everything in a command's record after the command (docs/journal-format.md).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/commands.h"
#include "rules/outcome.h"
#include "rules/state.h"
#include "storage/json_text.h"

namespace jackpot::storage {

// Writes the members of the record's object. `after` is the state that the command led to. A
// refusal's detail and a notice's text are not journaled: they follow from the other fields, and
// better words must not make old journals look wrong.
void writeOutcome(JsonText& json, const rules::Outcome& outcome, const rules::State& after);

// The outcome as a record has it. It owns its texts and names pools and tables by their ids.

struct RecordedRefusal {
    rules::RefusalCode code{};
    std::string rule;  // may be empty
    bool operator==(const RecordedRefusal&) const = default;
};

struct RecordedAward : rules::AwardRef {
    rules::Money amount;
    std::string rule;
    std::string playerCard;  // may be empty
    rules::Arithmetic arithmetic;
    bool operator==(const RecordedAward&) const = default;

    [[nodiscard]] bool isJackpot() const;
    [[nodiscard]] std::string_view form() const;  // "jackpot", "fixed", "bonus"
    // rules::arithmeticInWords(), or an explanation if the amounts are too large to compute with.
    [[nodiscard]] std::string inWords() const;
};

struct RecordedWithdrawal : rules::AwardRef {
    rules::Money amount;
    bool operator==(const RecordedWithdrawal&) const = default;
};

struct RecordedRefund {
    std::string table;
    std::int64_t round = 0;
    std::int64_t seat = 0;
    rules::Money amount;
    bool operator==(const RecordedRefund&) const = default;
};

struct RecordedClaim : rules::AwardRef {
    rules::ClaimState state{};
    bool operator==(const RecordedClaim&) const = default;
};

struct RecordedNotice {
    rules::NoticeKind kind{};
    std::string rule;
    bool operator==(const RecordedNotice&) const = default;
};

struct RecordedParameters : rules::ParametersChange {
    std::string pool;
    bool operator==(const RecordedParameters&) const = default;
};

struct RecordedAmendment {
    std::vector<std::string> newPools;
    std::vector<std::string> newTables;
    std::vector<std::string> changedTables;
    bool operator==(const RecordedAmendment&) const = default;
};

inline constexpr std::size_t kAccounts = 4;

// The amounts that the accounts gained by one cause; they sum to zero.
struct RecordedPosting {
    rules::Cause cause{};
    std::array<rules::Money, kAccounts> gained;  // by rules::Account
    bool operator==(const RecordedPosting&) const = default;

    [[nodiscard]] rules::Money to(rules::Account account) const
    {
        return gained.at(static_cast<std::size_t>(account));
    }
};

struct RecordedPool {
    std::string pool;
    std::vector<RecordedPosting> postings;  // each cause once, in the order of rules::Cause
    rules::Money meter;                     // after the command
    rules::Money reserve;
    bool operator==(const RecordedPool&) const = default;

    [[nodiscard]] bool has(rules::Cause cause) const;
    // The money that the account gained by the cause.
    [[nodiscard]] rules::Money posted(rules::Cause cause, rules::Account account) const;
    // The minimum was restored, or the pool was opened.
    [[nodiscard]] bool isSeeded() const
    {
        return has(rules::Cause::Seed) || has(rules::Cause::FromReserve);
    }
};

struct RecordedOutcome {
    std::optional<RecordedRefusal> refusal;
    std::vector<RecordedAward> awards;  // that became due, in the order of payment
    std::vector<RecordedWithdrawal> withdrawn;
    std::vector<RecordedAward>
        locked;  // as they stand now, of each win that is not due and changed
    std::vector<RecordedRefund> refunds;
    std::vector<RecordedClaim> claims;
    std::vector<RecordedNotice> notices;
    std::optional<rules::Payment> payment;
    std::optional<RecordedParameters> parameters;
    std::optional<RecordedAmendment> amendment;
    std::vector<RecordedPool> pools;  // the one that the command concerns, or all
    bool operator==(const RecordedOutcome&) const = default;

    [[nodiscard]] bool hasJackpot() const;
};

// Reads what writeOutcome() has written. `text` is the record's payload from Record::commandEnd on.
Result<RecordedOutcome> readOutcome(std::string_view text);

// "surveillance", "inspector": those who receive the notice.
std::vector<std::string_view> recipientIds(rules::NoticeKind kind);

}  // namespace jackpot::storage
