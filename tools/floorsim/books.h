// floorsim's own books: from the commands it sent and the frames it received they compute the
// expected decisions, and record every difference. They use neither the rules nor the table's side
// of the link. One thread.
//
// Commands are checked in two steps. The effects on one round (its wagers, fixed awards, refunds,
// claims) are compared when the decision arrives. The effects on a pool are first sorted by record
// number: a record is applied when no undecided command can have an earlier record. The newest
// receipt known when a command is sent gives the lowest record number that the command can have.
// Awards of wins are compared with the pool's account as it is after their record.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "link.pb.h"
#include "storage/keys.h"
#include "tools/floorsim/latencies.h"
#include "tools/floorsim/pool.h"

namespace jackpot::floorsim {

namespace v2 = link::v2;

struct TableTerms {
    std::string id;
    std::uint32_t pool = 0;
    int seats = 7;
    bool requirePlayerCard = false;
};

class Books {
public:
    struct Checks {
        // Without a key: the one that the daemon names in its Welcome.
        std::optional<storage::Verifier> key;
        std::uint32_t verifyOneIn = 1;  // of this many receipts, one signature is verified
    };
    Books(std::vector<PoolTerms> pools, std::vector<TableTerms> tables, Checks checks);
    Books(const Books&) = delete;
    Books& operator=(const Books&) = delete;

    // Call when the command, with its number, is in the table's outbox.
    void sent(std::uint32_t table, const v2::Command& command, std::int64_t nowNs);
    // Call for each frame from the daemon, before the table handles it.
    void received(std::uint32_t table, const v2::ToTable& frame, std::int64_t nowNs);

    // Call when each table has received its state and no command was sent: the books start from
    // these states.
    void begin();
    [[nodiscard]] bool hasBegun() const { return hasBegun_; }
    void flush();
    // Makes the last comparison. Call when every command is decided and each table has received its
    // state since.
    void end();

    void addMistake(std::string what);

    // ---- what a table needs to know to continue ----------------------------------------------

    struct Round {
        std::int64_t number = 0;
        SeatSet standing = 0;
        Tiers tiers{};
        bool isOpen = false;  // accepted
        bool isRefused = false;
        bool resultIn = false;
        bool isVoid = false;
        bool isConfirmed = false;
        bool isClosed = false;
    };
    struct Progress {
        std::int64_t firstRound = 0;                // the newest round before the books began
        std::uint64_t rounds = 0;                   // opened since
        std::optional<v2::Command::WhatCase> last;  // the last command that was sent
        std::int64_t lastRound = 0;
        SeatSet lastSeats = 0;  // whose wagers stand
        Tiers lastTiers{};      // by the last result
        [[nodiscard]] bool lastHasJackpot() const;
    };
    [[nodiscard]] const Progress& progress(std::uint32_t table) const
    {
        return tables_[table].progress;
    }
    [[nodiscard]] std::size_t undecided(std::uint32_t table) const
    {
        return tables_[table].sent.size();
    }
    [[nodiscard]] std::uint64_t lastNumber(std::uint32_t table) const
    {
        return tables_[table].lastNumber;
    }
    [[nodiscard]] bool hasState(std::uint32_t table) const
    {
        return tables_[table].state.has_value();
    }
    void clearStates();
    [[nodiscard]] std::optional<v2::TableState> stateOf(std::uint32_t table) const
    {
        return tables_[table].state;
    }
    // A dealer of this table may press now without a tie: no other table's press is undecided, and
    // the last one is longer ago than the window.
    [[nodiscard]] bool mayPress(std::uint32_t table, std::int64_t nowNs) const;
    // The table's wins that are not final, also those from before the run.
    [[nodiscard]] std::size_t openWins(std::uint32_t table) const;
    // Wins that are neither due nor held yet.
    [[nodiscard]] std::size_t winsLocked() const;
    [[nodiscard]] std::size_t winsHeld(std::uint32_t pool) const;

    // ---- for the report ----------------------------------------------------------------------

    struct Tally {
        std::uint64_t count = 0;
        std::int64_t cents = 0;
    };
    struct Totals {
        std::uint64_t commands = 0;
        std::uint64_t rounds = 0;
        std::uint64_t wagers = 0;  // accepted
        std::uint64_t voidedRounds = 0;
        std::uint64_t voidedWagers = 0;
        std::uint64_t corrections = 0;
        std::uint64_t closed = 0;
        std::uint64_t suspensions = 0;  // for a malfunction
        std::uint64_t repeatedAnswers = 0;
        std::uint64_t rejected = 0;
        std::uint64_t receipts = 0;
        std::uint64_t verified = 0;
        std::uint64_t awardsNotListed = 0;  // due, and more than a table's state lists
        std::map<std::string, std::uint64_t> refusals;
        std::array<Tally, kTierCount> awards{};
        std::map<std::string, std::uint64_t> goodbyes;
    };
    [[nodiscard]] const Totals& totals() const { return totals_; }
    [[nodiscard]] const std::vector<PoolAccount>& pools() const { return pools_; }
    [[nodiscard]] const std::vector<TableTerms>& tables() const { return terms_; }
    [[nodiscard]] std::int64_t shownCents(std::uint32_t pool) const { return shownCents_[pool]; }
    [[nodiscard]] const std::vector<std::string>& mistakes() const { return mistakes_; }
    [[nodiscard]] std::uint64_t mistakeCount() const { return mistakeCount_; }
    [[nodiscard]] std::uint64_t receiptSize() const { return newestReceipt_; }
    Latencies& latencies() { return latencies_; }
    [[nodiscard]] const Latencies& latencies() const { return latencies_; }

private:
    struct Sent {
        std::uint64_t number = 0;
        v2::Command::WhatCase what{};
        std::int64_t round = 0;
        SeatSet seats = 0;
        Tiers tiers{};
        std::int64_t sentNs = 0;
        std::uint64_t notBefore = 0;  // the lowest number that its record can have
        int ground = 0;               // of a void or a suspension
    };
    struct Answer {
        std::uint64_t number = 0;
        std::uint64_t record = 0;
        std::size_t contents = 0;
    };
    struct TableBook {
        std::deque<Sent> sent;
        std::uint64_t lastNumber = 0;
        std::uint64_t lastRecord = 0;
        std::uint64_t wagersBefore = 0;
        std::uint64_t wagers = 0;
        std::uint64_t receiptSize = 0;
        Round round;
        Progress progress;
        std::optional<v2::TableState> state;
        std::array<Answer, 64> answers{};
        bool hasWelcome = false;
    };
    // A win as the daemon reports it.
    struct WinState {
        enum class Phase : std::uint8_t { Pressed, Locked, Held, Due, Final, Dropped };
        Phase phase = Phase::Pressed;
        std::int64_t pressedNs = 0;
        std::int64_t decidedNs = 0;  // 0: the press is undecided
        bool wasHeld = false;
        std::map<std::pair<int, Tier>, std::int64_t> due{};  // awards reported as due
    };
    // An award in a frame, to be compared with the account after its record.
    struct Report {
        enum class Kind : std::uint8_t { Locked, Due, Withdrawn };
        std::uint64_t record = 0;
        Kind kind{};
        RoundKey round;
        int seat = 0;
        Tier tier = Tier::None;
        std::int64_t cents = 0;
    };

    void handleDecision(std::uint32_t table, const v2::Decision& decision, std::int64_t nowNs);
    void handleRepeated(std::uint32_t table, const v2::Decision& decision);
    void handleOpened(TableBook& book, const Sent& sent, Movement& movement);
    void handleResult(std::uint32_t table, const Sent& sent, const v2::Decision& decision,
                      Movement& movement);
    void handleConfirmed(std::uint32_t table, const Sent& sent, std::int64_t nowNs,
                         Movement& movement);
    void handleVoid(std::uint32_t table, const Sent& sent, const v2::Decision& decision,
                    Movement& movement);
    void handleSuspended(std::uint32_t table, const v2::Decision& decision, Movement& movement);
    // `tiers` are those that the awards were made by.
    void compareReturns(std::uint32_t table, const v2::Decision& decision, const Tiers& tiers,
                        SeatSet returned, SeatSet withdrawn);
    void compareClaims(std::uint32_t table, const Round& round, const Tiers& before,
                       const v2::Decision& decision);
    void handleRefusal(std::uint32_t table, const Sent& sent, const v2::Decision& decision);
    void handleSettlement(std::uint32_t table, const v2::Settlement& settlement,
                          std::int64_t nowNs);
    void handleState(std::uint32_t table, const v2::TableState& state);
    // Of a Decision or a Settlement: awards of wins, and claims.
    template <class Message>
    void handleWins(std::uint32_t table, const Message& message, std::int64_t nowNs);
    void handleClaim(std::uint32_t table, const v2::Claim& claim, std::uint64_t record,
                     std::int64_t shownCents, std::int64_t nowNs);
    void checkDue(const RoundKey& round, const WinState& win, std::int64_t nowNs);
    void handleReceipt(std::uint32_t table, const v2::Receipt& receipt, bool isOld);
    void handlePoolNews(std::uint32_t table, const v2::PoolNews& news);
    void addReport(std::uint32_t table, Report::Kind kind, std::uint64_t record,
                   const v2::Award& award);
    void checkPlayer(std::uint32_t table, const v2::Award& award);
    void compare(const Report& report);
    [[nodiscard]] bool agrees(const Report& report) const;
    [[nodiscard]] const JackpotAward* findAward(const RoundKey& round, int seat, Tier tier) const;
    void applyRecord(std::uint64_t record);
    void endWins(std::uint32_t table, const v2::TableState& state);
    void count(Tier tier, std::int64_t cents, int by = 1);
    [[nodiscard]] std::string where(std::uint32_t table, std::int64_t round, int seat = 0) const;
    [[nodiscard]] const PoolTerms& termsOf(std::uint32_t table) const
    {
        return pools_[terms_[table].pool].terms();
    }

    std::vector<TableTerms> terms_;
    Checks checks_;
    std::vector<PoolAccount> pools_;
    std::vector<Movement> pending_;  // wait for earlier records
    std::uint64_t lastRecord_ = 0;
    std::vector<TableBook> tables_;
    std::vector<std::int64_t> shownCents_;        // the last amount received for each pool
    std::map<RoundKey, WinState> wins_;           // confirmed in this run
    std::vector<std::size_t> winsBefore_;         // by table: open wins from before the run
    std::vector<std::int64_t> pressDecidedNs_;    // by pool: of the last press
    std::vector<Report> reports_;                 // wait for earlier records
    std::map<std::string, std::string> players_;  // pseudonyms by "table seat"
    std::optional<storage::Verifier> verifier_;
    std::string verified_;  // the last verified note
    std::uint64_t newestReceipt_ = 0;
    bool hasBegun_ = false;
    Totals totals_;
    Latencies latencies_;
    std::vector<std::string> mistakes_;
    std::uint64_t mistakeCount_ = 0;
};

}  // namespace jackpot::floorsim
