// What a command did: everything a table, a meter, an auditor or the journal needs to know of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/cards.h"
#include "rules/commands.h"
#include "rules/money.h"

namespace jackpot::rules {

enum class RefusalCode : std::uint8_t {
    UnknownTable,
    UnknownPool,
    TableSuspended,
    PoolSuspended,
    RoundNotNewer,
    NoResult,
    ClaimUnconfirmed,
    TooManyOpenWins,
    SeatOutOfRange,
    DuplicateSeat,
    NoBaseWager,
    NoPlayerCard,
    PlayerWagersTwice,
    NoOpenRound,
    WrongRound,
    RoundVoided,
    RoundClosed,
    ResultAlreadyReported,
    AlreadyConfirmed,
    NeedsSupervisor,
    WrongCardCount,
    SeatHasNoWager,
    BadCard,
    ImpossibleCards,
    NothingToConfirm,
    NothingHeld,
    BadRuling,
    RoundOpen,
    NotSuspended,
    SuspendedByDesk,
    TableOffline,
    NotOffline,
    NeedsTwoPeople,
    NeedsReason,
    BelowMinimum,
    OutOfRange,
    BadConfiguration,
    NoSuchAward,
    AwardNotDue,
    AwardWithheld,
    NotWithheld,
    AwardPaid,
};

std::string_view idOf(RefusalCode code);  // "duplicate_seat"

struct Refusal {
    RefusalCode code{};
    std::string_view rule;  // "BJ 5.6"; empty where no rule but ours forbids it
    std::string detail;     // what, where, and what to do next
    bool operator==(const Refusal&) const = default;
};

inline std::optional<Refusal> refuse(RefusalCode code, std::string_view rule, std::string detail)
{
    return Refusal{code, rule, std::move(detail)};
}

inline std::string seatText(std::int64_t seat) { return "seat " + std::to_string(seat); }

// The rule of the game at hand.
inline std::string_view ruleOf(Game game, std::string_view blackjack, std::string_view holdem)
{
    return game == Game::UltimateTexasHoldem ? holdem : blackjack;
}

// How an award came about, as data; arithmeticInWords() renders it.
struct Arithmetic {
    enum class Kind : std::uint8_t { Fixed, Bonus, Tenth, All };
    Kind kind = Kind::Fixed;
    Money displayed;           // of the pool before this step (Tenth, All)
    Money aggregate;           // what the pool pays for the step
    std::int64_t winners = 1;  // who share it
    Money share;               // the aggregate's equal part, rounded up to the payout unit
    Money guarantee;           // the least that each receives
    Money payoutUnit;
    bool operator==(const Arithmetic&) const = default;

    // An amount of the house's that nobody shares.
    static Arithmetic plain(Kind kind, Money amount)
    {
        Arithmetic arithmetic;
        arithmetic.kind = kind;
        arithmetic.share = amount;
        return arithmetic;
    }
};

struct Award {
    std::uint32_t table = 0;  // index into State::tables
    std::int64_t round = 0;
    int seat = 0;
    Tier tier = Tier::None;
    Money amount;
    std::string_view rule;
    Arithmetic arithmetic;
    std::string playerCard;  // of the wager: the award belongs to it; empty without a card
    bool operator==(const Award&) const = default;
};

// An award that was due and no longer is.
struct Withdrawal {
    std::uint32_t table = 0;
    std::int64_t round = 0;
    int seat = 0;
    Tier tier = Tier::None;
    Money amount;
    bool operator==(const Withdrawal&) const = default;
};

struct Refund {
    std::uint32_t table = 0;
    std::int64_t round = 0;
    int seat = 0;
    Money amount;
    bool operator==(const Refund&) const = default;
};

enum class Account : std::uint8_t { House, Players, Meter, Reserve };
std::string_view idOf(Account account);

enum class Cause : std::uint8_t {
    Wager,         // players to house
    Contribution,  // house to meter and reserve
    Refund,        // house to players
    Return,        // meter and reserve to house
    MakeGood,      // house to a reserve that was meanwhile spent
    Award,         // meter and house to players, when an award is locked or due
    Withdrawal,    // players to meter and house, when one is withdrawn or replaced
    Seed,          // house to meter
    FromReserve,   // reserve to meter; back where resets come out smaller
    Adjustment,    // house to meter, or back
};
std::string_view idOf(Cause cause);

// One side of a movement of money. The postings of each cause sum to zero.
struct Posting {
    Cause cause{};
    Account account{};
    std::uint32_t pool = 0;  // index into State::pools; the meter and reserve are that pool's
    Money amount;            // what the account gains
    bool operator==(const Posting&) const = default;
};

// The life of a jackpot claim: claimed by the result; locked by the button, the money taken and not
// due; held for a ruling; due; final; or dropped by a void or a correction.
enum class ClaimState : std::uint8_t { Claimed, Locked, Held, Due, Final, Dropped };
std::string_view idOf(ClaimState state);

struct ClaimChange {
    std::uint32_t table = 0;
    std::int64_t round = 0;
    int seat = 0;
    Tier tier = Tier::None;
    ClaimState state{};
    bool operator==(const ClaimChange&) const = default;
};

enum class NoticeKind : std::uint8_t {
    MissingOrForeignCard,
    Malfunction,
    Held,
    LatePress,
    ParametersInForce,
};
std::string_view idOf(NoticeKind kind);  // "late_press"

enum class Notify : std::uint8_t { Surveillance, Inspector, SurveillanceAndInspector };
Notify recipientsOf(NoticeKind kind);

struct Notice {
    NoticeKind kind{};
    std::string_view rule;
    std::string text;
    bool operator==(const Notice&) const = default;
};

// One payment, and how the award stands with it.
struct Payment {
    Money due;   // what is due now: zero if the award is withdrawn, locked or was never made
    Money paid;  // by this payment
    Money sum;   // of all payments of the award; of this one where there is no award
    bool operator==(const Payment&) const = default;
};

// The way of a pool's parameters: agreed by two people, in force since a reset, or taken back
// before that.
enum class ParametersState : std::uint8_t { Agreed, InForce, TakenBack };
std::string_view idOf(ParametersState state);

struct ParametersChange {
    ParametersState state{};
    PoolParameters from;  // in force until then
    PoolParameters to;
    bool operator==(const ParametersChange&) const = default;
};

// What a configuration changed in a site that was there; indices into State.
struct Amendment {
    std::vector<std::uint32_t> newPools;
    std::vector<std::uint32_t> newTables;
    std::vector<std::uint32_t> changedTables;
    bool operator==(const Amendment&) const = default;
};

struct Outcome {
    std::optional<Refusal> refusal;  // then everything else is empty, and the state is as it was
    std::optional<std::uint32_t> pool;
    std::vector<Award> awards;  // that became due, in the order of payment
    std::vector<Withdrawal>
        withdrawn;                // fixed ones by seat, then jackpots and bonuses as they stood
    std::vector<Award> locked;    // as they stand now, of each win that is not due and changed
    std::vector<Refund> refunds;  // seats ascending
    std::vector<ClaimChange> claims;
    std::vector<Posting> postings;
    std::vector<Notice> notices;
    std::optional<Payment> payment;
    std::optional<ParametersChange> parameters;  // of `pool`
    std::optional<Amendment> amendment;
    bool operator==(const Outcome&) const = default;
};

}  // namespace jackpot::rules
