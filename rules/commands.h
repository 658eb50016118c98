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

// The names of those who did it, as their sender gave them. A name given twice or left empty is no
// second person.
using People = std::vector<std::string>;

// Rounds are numbered from 1 to this.
inline constexpr std::int64_t kMaxRound = 1'000'000'000'000'000;

// Opens the pools and links the tables: the first command of a history. Given again, it names the
// whole site as it shall be: pools and tables may be added, and tables that are not in play
// changed.
struct ConfigureSite {
    Site site;
    bool operator==(const ConfigureSite&) const = default;
};

struct Wager {
    std::int64_t seat = 0;
    bool baseWager = true;   // the wagerer's own, on that box (BJ 14.7, UTH 15.2.1)
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

// Until the round is closed (BJ 16.8).
struct CorrectResult {
    ReportResult result;
    People by;  // a supervisor; two people once the jackpot is confirmed or an award paid
    bool operator==(const CorrectResult&) const = default;
};

// The dealer's button.
struct ConfirmJackpot {
    std::string table;
    std::int64_t round = 0;
    std::int64_t pressedAgoMs = 0;  // by the table's monotonic clock
    bool operator==(const ConfirmJackpot&) const = default;
};

// The round is over: its result can't be corrected any more.
struct CloseRound {
    std::string table;
    std::int64_t round = 0;
    bool operator==(const CloseRound&) const = default;
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
    People by;
    bool operator==(const RuleOnClaims&) const = default;
};

enum class VoidRoundGround : std::uint8_t {
    DealingError,          // BJ 16.8, UTH 11.1 to 11.6
    MissingOrForeignCard,  // BJ 16.16, UTH 11.7
    ShufflingDevice,       // BJ 17.4, UTH 12.2
    Invalidated,           // BJ 18.9, 18.10, UTH 13.9, 13.10: takes two people
};
std::string_view idOf(VoidRoundGround ground);  // "dealing_error"
std::optional<VoidRoundGround> voidRoundGroundOfId(std::string_view id);

struct VoidRound {
    std::string table;
    std::int64_t round = 0;
    VoidRoundGround ground{};
    std::vector<std::int64_t> forfeited;  // seats whose wager is not returned; Invalidated only
    std::string reason;
    People by;
    bool operator==(const VoidRound&) const = default;
};

enum class VoidWagerGround : std::uint8_t {
    InvalidWager,      // BJ 16.22, 18.1, UTH 11.16, 13.1
    LossLimit,         // BJ 16.23, UTH 11.17
    ProhibitedDevice,  // BJ 18.8, UTH 13.8
    Refused,           // BJ 18.16, UTH 13.16: only before the result
};
std::string_view idOf(VoidWagerGround ground);
std::optional<VoidWagerGround> voidWagerGroundOfId(std::string_view id);

struct VoidWager {
    std::string table;
    std::int64_t round = 0;
    std::int64_t seat = 0;
    VoidWagerGround ground{};
    std::string reason;
    People by;
    bool operator==(const VoidWager&) const = default;
};

enum class SuspensionGround : std::uint8_t {
    Malfunction,  // BJ 16.18, UTH 11.11
    Closed,       // BJ 18.13
    Tournament,   // BJ 19
};
std::string_view idOf(SuspensionGround ground);
std::optional<SuspensionGround> suspensionGroundOfId(std::string_view id);

// Where a suspension was made or ended. A table can't end one that the desk made.
enum class Origin : std::uint8_t { Table, Desk };
std::string_view idOf(Origin origin);
std::optional<Origin> originOfId(std::string_view id);

struct SuspendTable {
    std::string table;
    SuspensionGround ground{};
    Origin from = Origin::Table;
    std::string reason;
    People by;  // who approved that play goes on without the jackpot
    bool operator==(const SuspendTable&) const = default;
};

struct ResumeTable {
    std::string table;
    Origin from = Origin::Table;
    std::string reason;
    People by;
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
    People by;
    bool operator==(const SuspendPool&) const = default;
};

struct ResumePool {
    std::string pool;
    std::string reason;
    People by;
    bool operator==(const ResumePool&) const = default;
};

struct AdjustPool {
    std::string pool;
    Money amount;  // signed, whole cents
    std::string reason;
    People by;  // at least two different people
    bool operator==(const AdjustPool&) const = default;
};

// Agrees what the pool's parameters shall be, all of them, from its next reset on. The present ones
// take back a change that was agreed and is not in force yet.
struct ChangePool {
    std::string pool;
    PoolParameters to;
    std::string reason;
    People by;  // at least two different people
    bool operator==(const ChangePool&) const = default;
};

// A look at the wins of one pool at a time: first those that are due and 24 hours old become final,
// then those whose wait has ended become due or are held for an offline table, in the order of
// arrival.
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
    People by;  // at least two different people
    bool operator==(const WithholdAward&) const = default;
};

// Ends a withholding.
struct ReleaseAward {
    AwardRef award;
    std::string reason;
    People by;  // at least two different people
    bool operator==(const ReleaseAward&) const = default;
};

// What was really paid, to be held against what is due (BJ 16.19, UTH 11.12), as often as needed. A
// negative amount came back.
struct RecordPayment {
    AwardRef award;
    bool withoutAward = false;  // nothing was due: the tier is not read
    Money paid;
    std::string how;
    People by;
    bool operator==(const RecordPayment&) const = default;
};

using Command =
    std::variant<ConfigureSite, OpenRound, ReportResult, CorrectResult, ConfirmJackpot, CloseRound,
                 RuleOnClaims, VoidRound, VoidWager, SuspendTable, ResumeTable, MarkTableOffline,
                 MarkTableOnline, SuspendPool, ResumePool, AdjustPool, SettleDue, WithholdAward,
                 ReleaseAward, RecordPayment, ChangePool>;

// How many, a name given twice or left empty not counted.
std::size_t differentPeople(People people);

// In the past tense, as the journal and scenarios name it: "round_opened".
std::string_view kindOf(const Command& command);
// The id of the table that it is about; nullptr where it is about none.
const std::string* tableOf(const Command& command);
// The alternative of Command that has this kind.
std::optional<std::size_t> commandOfKind(std::string_view kind);

}  // namespace jackpot::rules
