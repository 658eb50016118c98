// floorsim's own books: from the commands it sent and the frames it received they compute the
// expected decisions, and record every difference. They use neither the rules nor the table's side
// of the link. One thread.
//
// Commands are checked in two steps. The effects on one round (its wagers, fixed awards, refunds,
// claims) are compared when the decision arrives. The effects on a pool are first sorted by record
// number: a record is applied when no undecided command can have an earlier record. The newest
// receipt known when a command is sent gives the lowest record number that the command can have.
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
        [[nodiscard]] bool hasClaim() const;
    };
    struct Progress {
        std::int64_t firstRound = 0;                // the newest round before the books began
        std::uint64_t rounds = 0;                   // opened since
        std::optional<v2::Command::WhatCase> last;  // the last command that was sent
        std::int64_t lastRound = 0;
        SeatSet lastSeats = 0;
        bool lastHasJackpot = false;
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
    // True if, by the frames sent and received, a confirmation of this pool waits for the end of
    // its window.
    [[nodiscard]] bool isWaiting(std::uint32_t pool) const { return !confirmed_[pool].empty(); }
    [[nodiscard]] bool isHeld(std::uint32_t pool) const { return held_[pool] > 0; }
    [[nodiscard]] std::size_t jackpotsUnsettled() const;

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
        std::uint64_t repeatedAnswers = 0;
        std::uint64_t rejected = 0;
        std::uint64_t receipts = 0;
        std::uint64_t verified = 0;
        std::uint64_t awardsNotReported = 0;  // lost with a connection, and not listed as due
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
    struct AwardKey {
        RoundKey round;
        int seat = 0;
        Tier tier = Tier::None;
        auto operator<=>(const AwardKey&) const = default;
    };
    struct JackpotEntry {
        std::optional<std::int64_t> expected;
        std::optional<std::int64_t> reported;
        bool isAwarded = false;  // reported as an award, not only as due in a table's state
    };

    void handleDecision(std::uint32_t table, const v2::Decision& decision, std::int64_t nowNs);
    void handleRepeated(std::uint32_t table, const v2::Decision& decision);
    void handleOpened(TableBook& book, const Sent& sent, Movement& movement);
    void handleResult(std::uint32_t table, const Sent& sent, const v2::Decision& decision);
    void handleConfirmed(std::uint32_t table, const Sent& sent, const v2::Decision& decision,
                         Movement& movement);
    void handleVoid(std::uint32_t table, const Sent& sent, const v2::Decision& decision,
                    Movement& movement);
    void handleRefusal(std::uint32_t table, const Sent& sent, const v2::Decision& decision);
    void handleSettlement(std::uint32_t table, const v2::Settlement& settlement);
    void handleState(std::uint32_t table, const v2::TableState& state);
    void handleClaim(std::uint32_t table, const v2::Claim& claim);
    void handleReceipt(std::uint32_t table, const v2::Receipt& receipt, bool isOld);
    void handlePoolNews(std::uint32_t table, const v2::PoolNews& news);
    void addAward(std::uint32_t table, const v2::Award& award);
    void addAward(const AwardKey& key, std::int64_t cents, bool isAward);
    void expectAward(const JackpotAward& award);
    void compare(const AwardKey& key, const JackpotEntry& entry);
    void count(Tier tier, std::int64_t cents);
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
    std::vector<std::int64_t> shownCents_;             // the last amount received for each pool
    std::vector<std::map<RoundKey, bool>> confirmed_;  // confirmed and not settled; true: decided
    std::vector<std::size_t> held_;
    std::map<AwardKey, JackpotEntry> jackpots_;
    std::vector<std::map<AwardKey, JackpotEntry>> settled_;  // by table
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
