// What can be asked of the rules. A command holds what its sender said, unchecked: apply() refuses
// what the rules do not allow, and every field a sender can get wrong is kept in the form it was
// sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rules/cards.h"
#include "rules/money.h"
#include "rules/site.h"

namespace jackpot::rules {

using TimeMs = std::int64_t;

// Opens the pools and links the tables: the first command of a history. Given again, it names the
// whole site as it shall be: pools and tables may be added, and tables that are not in play
// changed.
struct ConfigureSite {
    Site site;
    bool operator==(const ConfigureSite&) const = default;
};

struct Wager {
    std::int64_t seat = 0;
    bool baseWager = true;
    std::string playerCard;  // a pseudonym; empty without a card
    std::string approvedBy;  // approved a wager on another player's box (UTH 15.2.1.1)
    bool operator==(const Wager&) const = default;
};

// The wagers are locked before the first card.
struct OpenRound {
    std::string table;
    std::int64_t round = 0;
    std::vector<Wager> wagers;
    bool operator==(const OpenRound&) const = default;
};

struct Hand {
    std::int64_t seat = 0;
    std::vector<std::string> cards;
    bool operator==(const Hand&) const = default;
};

// The board is the dealer's first card (Blazing 7's) or the flop (UTH). Seats not listed did not
// qualify.
struct ReportResult {
    std::string table;
    std::int64_t round = 0;
    std::vector<std::string> board;
    std::vector<Hand> hands;
    bool operator==(const ReportResult&) const = default;
};

struct CorrectResult {
    ReportResult result;
    std::string by;  // a supervisor
    bool operator==(const CorrectResult&) const = default;
};

// The dealer's button.
struct ConfirmJackpot {
    std::string table;
    std::int64_t round = 0;
    std::int64_t pressedAgoMs = 0;  // by the table's monotonic clock
    bool operator==(const ConfirmJackpot&) const = default;
};

struct RoundRef {
    std::string table;
    std::int64_t round = 0;
    bool operator==(const RoundRef&) const = default;
    auto operator<=>(const RoundRef&) const = default;
};

// Surveillance's ruling: groups in the order in which they won, each the rounds that won together.
struct RuleOnClaims {
    std::string pool;
    std::vector<std::vector<RoundRef>> order;
    std::string by;
    bool operator==(const RuleOnClaims&) const = default;
};

struct VoidRound {
    std::string table;
    std::int64_t round = 0;
    std::string reason;
    std::string by;
    bool operator==(const VoidRound&) const = default;
};

struct VoidWager {
    std::string table;
    std::int64_t round = 0;
    std::int64_t seat = 0;
    std::string reason;
    std::string by;
    bool operator==(const VoidWager&) const = default;
};

struct SuspendTable {
    std::string table;
    std::string reason;
    std::string by;  // who approved that play goes on without the jackpot
    bool operator==(const SuspendTable&) const = default;
};

struct ResumeTable {
    std::string table;
    std::string reason;
    std::string by;
    bool operator==(const ResumeTable&) const = default;
};

struct MarkTableOffline {
    std::string table;
    bool operator==(const MarkTableOffline&) const = default;
};

struct MarkTableOnline {
    std::string table;
    bool operator==(const MarkTableOnline&) const = default;
};

struct SuspendPool {
    std::string pool;
    std::string reason;
    std::string by;
    bool operator==(const SuspendPool&) const = default;
};

struct ResumePool {
    std::string pool;
    std::string reason;
    std::string by;
    bool operator==(const ResumePool&) const = default;
};

struct AdjustPool {
    std::string pool;
    Money amount;  // signed
    std::string reason;
    std::vector<std::string> by;  // at least two different people
    bool operator==(const AdjustPool&) const = default;
};

// Agrees what the pool's parameters shall be, all of them, from its next reset on. The present ones
// take back a change that was agreed and is not in force yet.
struct ChangePool {
    std::string pool;
    PoolParameters to;
    std::string reason;
    std::vector<std::string> by;  // at least two different people
    bool operator==(const ChangePool&) const = default;
};

// Settles the lone confirmations of a pool whose window has passed.
struct SettleDue {
    std::string pool;
    bool operator==(const SettleDue&) const = default;
};

struct AwardRef {
    std::string table;
    std::int64_t round = 0;
    std::int64_t seat = 0;
    Tier tier = Tier::None;
    bool operator==(const AwardRef&) const = default;
};

// UTH 13.19, BJ 18.1: a due award is not paid out.
struct WithholdAward {
    AwardRef award;
    std::string reason;
    std::vector<std::string> by;  // at least two different people
    bool operator==(const WithholdAward&) const = default;
};

// What was really paid, to be held against what was due (BJ 16.19, UTH 11.12).
struct RecordPayment {
    AwardRef award;
    Money paid;
    std::string how;
    std::string by;
    bool operator==(const RecordPayment&) const = default;
};

using Command = std::variant<ConfigureSite, OpenRound, ReportResult, CorrectResult, ConfirmJackpot,
                             RuleOnClaims, VoidRound, VoidWager, SuspendTable, ResumeTable,
                             MarkTableOffline, MarkTableOnline, SuspendPool, ResumePool, AdjustPool,
                             SettleDue, WithholdAward, RecordPayment, ChangePool>;

// How many, a name given twice or left empty not counted: what moves money or keys by hand takes
// two.
std::size_t differentPeople(std::vector<std::string> people);

// In the past tense, as the journal and scenarios name it: "round_opened".
std::string_view kindOf(const Command& command);
// The id of the table that it is about; nullptr where it is about none.
const std::string* tableOf(const Command& command);
// The alternative of Command that has this kind.
std::optional<std::size_t> commandOfKind(std::string_view kind);

}  // namespace jackpot::rules
