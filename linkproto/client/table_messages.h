// What a table says and hears, as a vendor's code sees it. Texts are UTF-8 of at most 256 bytes.
// Refusals, tiers and claim states are words that docs/link.md lists. Every member has an
// initialiser, so that designated initialisers may leave any out without a warning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace jackpot::link {

// ---- what happens at the table
// -------------------------------------------------------------------

struct Wager {
    std::int64_t seat = 0;  // from 1, at the dealer's left
    bool baseWager = true;
    std::string playerCard{};
    std::string approvedBy{};  // who allowed a wager on another player's box (UTH 15.2.1.1)
};

// The wagers are locked, before the first card.
struct OpenRound {
    std::int64_t round = 0;
    std::vector<Wager> wagers{};
};

struct Hand {
    std::int64_t seat = 0;
    std::vector<std::string> cards{};  // "7D", "TS", "AC"
};

struct ReportResult {
    std::int64_t round = 0;
    std::vector<std::string> board{};  // Blazing 7's: the dealer's first card; UTH: the flop
    std::vector<Hand> hands{};         // seats that are left out did not qualify
};

struct CorrectResult {
    ReportResult result{};
    std::string by{};  // a supervisor; required
};

// The dealer's button.
struct ConfirmJackpot {
    std::int64_t round = 0;
};

// The round is over: its result can't be corrected any more.
struct CloseRound {
    std::int64_t round = 0;
};

// Every void and suspension has a ground, and names the supervisor in `by`; the reason is for
// people. The numbers are those of link.proto. What takes two people is done at the desk.
enum class VoidRoundGround : std::uint8_t {
    DealingError = 1,      // BJ 16.8, UTH 11.1 to 11.6
    MissingOrForeignCard,  // BJ 16.16, UTH 11.7
    ShufflingDevice,       // BJ 17.4, UTH 12.2
};

struct VoidRound {
    std::int64_t round = 0;
    VoidRoundGround ground{};
    std::string by{};
    std::string reason{};
};

enum class VoidWagerGround : std::uint8_t {
    InvalidWager = 1,  // BJ 16.22, 18.1, UTH 11.16, 13.1
    LossLimit,         // BJ 16.23, UTH 11.17
    ProhibitedDevice,  // BJ 18.8, UTH 13.8
    Refused,           // BJ 18.16, UTH 13.16: only before the result
};

struct VoidWager {
    std::int64_t round = 0;
    std::int64_t seat = 0;
    VoidWagerGround ground{};
    std::string by{};
    std::string reason{};
};

enum class SuspensionGround : std::uint8_t {
    Malfunction = 1,  // BJ 16.18, UTH 11.11
    Closed,           // BJ 18.13: only between rounds
    Tournament,       // BJ 19: only between rounds
};

struct Suspend {
    SuspensionGround ground{};
    std::string by{};
    std::string reason{};
};

struct Resume {
    std::string by{};
    std::string reason{};
};

using Command = std::variant<OpenRound, ReportResult, CorrectResult, ConfirmJackpot, CloseRound,
                             VoidRound, VoidWager, Suspend, Resume>;

// ---- what comes of it
// -----------------------------------------------------------------------------

struct Refusal {
    std::string code{};  // "duplicate_seat"
    std::string rule{};  // "BJ 5.6"; may be empty
    std::string detail{};
};

struct Award {
    std::int64_t round = 0;
    std::int64_t seat = 0;
    std::string tier{};
    std::int64_t amountCents = 0;
    // Only where it becomes due or is locked:
    std::string rule{};
    std::string arithmetic{};
    std::string player{};  // the pseudonym of the wager's player card; empty without one
};

struct Refund {
    std::int64_t round = 0;
    std::int64_t seat = 0;
    std::int64_t amountCents = 0;
};

struct Claim {
    std::int64_t round = 0;
    std::int64_t seat = 0;
    std::string tier{};
    std::string state{};  // claimed, locked, held, due, final, dropped
};

// Durable and signed.
struct Decision {
    std::uint64_t number = 0;
    std::uint64_t record = 0;  // in the journal
    std::optional<Refusal> refusal{};
    std::vector<Award> withdrawn{};  // were due, and no longer are
    std::vector<Award> awards{};     // due now, in the order of payment
    std::vector<Award> locked{};     // have taken their money and are not due: not to be paid yet
    std::vector<Refund> refunds{};
    std::vector<Claim> claims{};
    std::int64_t displayedCents = 0;
    bool again = false;  // it had been decided before; the same answer
};

// What the passing of time, the desk or another table changed for this table; also what a decision
// did not have room for, with its record. The lists are as in Decision.
struct Settlement {
    std::uint64_t record = 0;
    std::vector<Award> withdrawn{};
    std::vector<Award> awards{};
    std::vector<Award> locked{};
    std::vector<Award> withheld{};  // not to be paid until they are released
    std::vector<Award> released{};  // due again
    std::vector<Refund> refunds{};
    std::vector<Claim> claims{};
    std::int64_t displayedCents = 0;
};

struct PoolNews {
    std::string pool{};
    std::int64_t displayedCents = 0;
    bool open = false;
    bool locked = false;  // a confirmed jackpot waits for its time
    bool held = false;    // one waits for Surveillance's ruling
    bool unavailable = false;
};

struct Seat {
    std::int64_t seat = 0;
    std::string tier{};  // by the result; empty where none
};

struct TableState {
    std::string table{};
    std::string game{};
    std::int64_t seats = 0;
    bool requirePlayerCard = false;
    std::int64_t wagerCents = 0;
    bool suspended = false;
    bool suspendedByDesk = false;         // then only the desk can end it
    std::optional<std::int64_t> round{};  // the newest
    bool resultIn = false;
    bool voided = false;
    bool closed = false;
    bool confirmed = false;
    std::vector<Seat> wagered{};    // seats whose wager stands
    std::vector<Claim> claims{};    // of it, and of earlier rounds whose win is open
    std::vector<Award> locked{};    // not due yet
    std::vector<Award> due{};       // jackpots that are not recorded as paid, and their bonuses
    std::vector<Award> withheld{};  // would be due: people withhold them
    PoolNews pool{};
    std::uint64_t wagers = 0;
    std::uint64_t lastNumber = 0;
};

}  // namespace jackpot::link
