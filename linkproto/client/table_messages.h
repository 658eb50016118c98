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
    std::string by{};  // a supervisor
};

// The dealer's button.
struct ConfirmJackpot {
    std::int64_t round = 0;
};

struct VoidRound {
    std::int64_t round = 0;
    std::string reason{};
    std::string by{};
};

struct VoidWager {
    std::int64_t round = 0;
    std::int64_t seat = 0;
    std::string reason{};
    std::string by{};
};

struct Suspend {
    std::string reason{};
    std::string by{};
};

struct Resume {
    std::string reason{};
    std::string by{};
};

using Command = std::variant<OpenRound, ReportResult, CorrectResult, ConfirmJackpot, VoidRound,
                             VoidWager, Suspend, Resume>;

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
    std::string rule{};
    std::string arithmetic{};
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
    std::string state{};
};

// Durable and signed.
struct Decision {
    std::uint64_t number = 0;
    std::uint64_t record = 0;  // in the journal
    std::optional<Refusal> refusal{};
    std::vector<Award> awards{};  // due now, in the order of payment
    std::vector<Award> withdrawn{};
    std::vector<Refund> refunds{};
    std::vector<Claim> claims{};
    std::int64_t displayedCents = 0;
    bool again = false;  // it had been decided before; the same answer
};

// What a confirmed jackpot came to, after its window or a ruling.
struct Settlement {
    std::uint64_t record = 0;
    std::vector<Award> awards{};  // this table's, in the order of payment
    std::vector<Claim> claims{};
    std::int64_t displayedCents = 0;
};

struct PoolNews {
    std::string pool{};
    std::int64_t displayedCents = 0;
    bool open = false;
    bool pending = false;
    bool held = false;
    bool unavailable = false;
};

struct Seat {
    std::int64_t seat = 0;
    std::string tier{};  // by the result; empty where none
    bool claims = false;
};

struct DueAward {
    std::int64_t round = 0;
    std::int64_t seat = 0;
    std::string tier{};
    std::int64_t amountCents = 0;
};

struct TableState {
    std::string table{};
    std::string game{};
    std::int64_t seats = 0;
    bool requirePlayerCard = false;
    std::int64_t wagerCents = 0;
    bool suspended = false;
    std::optional<std::int64_t> round{};  // the newest
    bool resultIn = false;
    bool voided = false;
    bool confirmed = false;
    std::vector<Seat> wagered{};  // seats whose wager stands
    std::vector<DueAward> due{};  // jackpots that are not recorded as paid
    PoolNews pool{};
    std::uint64_t wagers = 0;
    std::uint64_t lastNumber = 0;
};

}  // namespace jackpot::link
