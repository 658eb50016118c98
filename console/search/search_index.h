// The search index: records, claims, awards, notices, proposals and displayed amounts for people
// who search. A thread fills its database, search.db, from the journal after each commit; a deleted
// or damaged database is made again. No decision depends on it: the rules and the journal decide.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/change_signal.h"
#include "rules/commands.h"
#include "rules/money.h"
#include "storage/sqlite.h"

namespace jackpot::audit {
class JournalView;
}

namespace jackpot::console {

class SearchDatabase;

struct RecordRow {
    std::uint64_t seq = 0;
    rules::TimeMs timeMs = 0;
    std::string kind;
    std::string pool;
    std::string table;
    std::optional<std::int64_t> round;
    std::string who;
    bool refused = false;
    bool operator==(const RecordRow&) const = default;
};

// An empty field matches everything. Newest first; with `after`, the records after that number,
// oldest first.
struct RecordQuery {
    std::string kind;
    std::string pool;
    std::string table;
    std::string who;
    std::optional<std::int64_t> round;
    std::optional<rules::TimeMs> fromMs;  // fromMs <= time < toMs
    std::optional<rules::TimeMs> toMs;
    std::optional<std::uint64_t> after;
    std::optional<std::uint64_t> before;
    std::size_t limit = 100;
};

struct PaymentRow {
    std::uint64_t seq = 0;
    rules::TimeMs timeMs = 0;
    std::int64_t seat = 0;
    std::string tier;            // "none": a payment where there is no award
    rules::Money paid;           // by this payment
    rules::Money due;            // at its time
    rules::Money sum;            // of all payments up to it
    bool rectification = false;  // not the first payment of the award
    std::string how;
    std::vector<std::string> by;
    bool operator==(const PaymentRow&) const = default;
};

// An amount that was due and was withdrawn.
struct EarlierAmountRow {
    std::uint64_t seq = 0;  // the record that made it due
    std::int64_t seat = 0;
    std::string tier;
    rules::Money amount;
    std::uint64_t withdrawnSeq = 0;
    rules::TimeMs withdrawnMs = 0;
    bool operator==(const EarlierAmountRow&) const = default;
};

// An award is known by table, round, seat and tier. It has one row, as it stands or stood last.
struct AwardRow {
    std::string table;
    std::int64_t round = 0;
    std::int64_t seat = 0;
    std::string tier;
    std::string form;    // "jackpot", "fixed", "bonus"
    std::string player;  // a pseudonym; may be empty
    rules::Money amount;
    std::string rule;
    std::string arithmetic;
    std::uint64_t seq = 0;   // the record that gave it this amount
    std::int64_t place = 0;  // in that record's order of payment, from 1
    std::string state;       // "locked", "due", "withheld", "withdrawn"
    rules::Money paid;       // in sum
    std::int64_t payments = 0;
    // Of the last withholding or release.
    std::optional<std::uint64_t> stateSeq;
    std::string stateReason;
    std::vector<std::string> stateBy;
    bool operator==(const AwardRow&) const = default;

    [[nodiscard]] rules::Money due() const
    {
        return state == "due" || state == "withheld" ? amount : rules::Money{};
    }
};

struct RefundRow {
    std::uint64_t seq = 0;
    rules::TimeMs timeMs = 0;
    std::int64_t seat = 0;
    rules::Money amount;
    bool operator==(const RefundRow&) const = default;
};

// Of a table that is suspended.
struct SuspensionRow {
    std::uint64_t seq = 0;
    rules::TimeMs timeMs = 0;
    std::string ground;
    std::string from;  // "table", "desk"
    std::string reason;
    std::vector<std::string> by;
    bool operator==(const SuspensionRow&) const = default;
};

// A jackpot that a seat claims.
struct ClaimRow {
    std::int64_t id = 0;  // in the order of claims
    std::string pool;
    std::string table;
    std::int64_t round = 0;
    std::int64_t seat = 0;
    std::string tier;
    std::string state;  // claimed, locked, held, due, final, dropped
    std::string board;  // "7D"
    std::string cards;  // "7H 7C"
    std::uint64_t claimedSeq = 0;
    rules::TimeMs claimedMs = 0;
    std::uint64_t changedSeq = 0;
    std::optional<rules::TimeMs> confirmedMs;  // when the confirmation arrived
    std::optional<rules::TimeMs> pressedMs;    // when the button was pressed, as the table reported
    std::optional<AwardRow> award;             // once there is one; without rule and arithmetic
    bool operator==(const ClaimRow&) const = default;
};

struct ClaimQuery {
    std::string state;
    std::string pool;
    std::string table;
    // False: the award is due and has no payment. True: it has one.
    std::optional<bool> paid;
    std::optional<std::int64_t> before;  // an id
    std::size_t limit = 100;
};

struct NoticeRow {
    std::string id;  // "17.1": the first notice of record 17
    std::uint64_t seq = 0;
    rules::TimeMs timeMs = 0;
    std::string kind;             // "held", "payment_difference", "alarm"
    std::vector<std::string> to;  // "surveillance", "inspector"
    std::string rule;
    std::string text;
    std::string delivery;  // "", "delivered", "failed"
    std::string acknowledgedBy;
    std::optional<rules::TimeMs> acknowledgedMs;
    std::string remark;
    bool operator==(const NoticeRow&) const = default;
};

struct NoticeQuery {
    std::optional<bool> acknowledged;
    std::optional<std::string> delivery;  // if given: oldest first, from fromMs on
    rules::TimeMs fromMs = 0;
    std::optional<std::uint64_t> before;  // a record
    std::size_t limit = 100;
};

struct ProposalRow {
    std::uint64_t id = 0;  // the number of its record
    rules::TimeMs madeMs = 0;
    rules::TimeMs expiresMs = 0;
    std::string by;
    std::string reason;
    std::string proposed;  // as in proposedText()
    std::string sha256;
    std::string words;
    // open, approved (but not carried out, after a crash), done, refused (by the rules), rejected,
    // withdrawn. An open proposal past expiresMs has expired.
    std::string state;
    std::string closedBy;
    std::string remark;
    std::optional<std::uint64_t> closedSeq;
    std::optional<std::uint64_t> outcomeSeq;  // the command's record
    bool operator==(const ProposalRow&) const = default;
};

struct ProposalQuery {
    std::string state;
    std::optional<std::uint64_t> before;
    std::size_t limit = 100;
};

// The amount that a pool displayed from timeMs on.
struct AmountRow {
    rules::TimeMs timeMs = 0;
    std::uint64_t seq = 0;
    rules::Money displayed;
    // The amount before, if a jackpot or a reset changed it.
    std::optional<rules::Money> before;
    bool operator==(const AmountRow&) const = default;
};

struct AmountQuery {
    std::string pool;
    std::optional<rules::TimeMs> fromMs;  // default: the first amount
    std::optional<rules::TimeMs> toMs;    // default: the last
    std::size_t points = 120;
};

inline constexpr std::size_t kMaxRows = 500;

// Thread-safe. A query sees committed rows of one point in time. Its error is that the database
// cannot be read.
class SearchIndex {
public:
    struct Settings {
        std::filesystem::path journal;  // the directory
        // Empty: search.db in that directory, or in memory if the directory is not writable.
        std::filesystem::path file;
        std::chrono::milliseconds minInterval{200};  // between two passes that nobody requested
        std::size_t recordsPerTransaction = 500;
    };
    // `changes` is notified after each commit, and by this index when it has new records. It
    // outlives the index.
    SearchIndex(Settings settings, ChangeSignal& changes);
    SearchIndex(const SearchIndex&) = delete;
    SearchIndex& operator=(const SearchIndex&) = delete;
    ~SearchIndex();

    // Waits until every record that the journal has now is indexed. False on timeout or failure.
    bool catchUp(std::chrono::milliseconds timeout);
    // Waits until this record is indexed. False on timeout.
    bool waitForRecord(std::uint64_t seq, std::chrono::milliseconds timeout);
    [[nodiscard]] std::uint64_t size() const { return changes().records; }
    // One more than the last indexed record, and one more than the last record since opening that
    // changed claims, notices or proposals.
    struct Changes {
        std::uint64_t records = 0;
        std::uint64_t claims = 0;
        std::uint64_t notices = 0;
        std::uint64_t proposals = 0;
        bool operator==(const Changes&) const = default;
    };
    [[nodiscard]] Changes changes() const;
    // Why the last pass over the journal failed; empty if it succeeded.
    [[nodiscard]] std::string fault() const;

    // Each returns at most kMaxRows rows, whatever the limit of the query.
    storage::SqliteResult<std::vector<RecordRow>> records(const RecordQuery& query) const;
    storage::SqliteResult<std::optional<RecordRow>> record(std::uint64_t seq) const;
    storage::SqliteResult<std::vector<ClaimRow>> claims(const ClaimQuery& query) const;
    storage::SqliteResult<std::vector<ClaimRow>> claimsOf(const std::string& table,
                                                          std::int64_t round) const;
    // In the order of payment.
    storage::SqliteResult<std::vector<AwardRow>> awardsOf(const std::string& table,
                                                          std::int64_t round) const;
    // The oldest first.
    storage::SqliteResult<std::vector<PaymentRow>> paymentsOf(const std::string& table,
                                                              std::int64_t round) const;
    storage::SqliteResult<std::vector<EarlierAmountRow>> earlierAmountsOf(const std::string& table,
                                                                          std::int64_t round) const;
    storage::SqliteResult<std::vector<RefundRow>> refundsOf(const std::string& table,
                                                            std::int64_t round) const;
    // Nothing if the table is not suspended.
    storage::SqliteResult<std::optional<SuspensionRow>> suspensionOf(
        const std::string& table) const;
    storage::SqliteResult<std::vector<NoticeRow>> notices(const NoticeQuery& query) const;
    storage::SqliteResult<std::optional<NoticeRow>> notice(const std::string& id) const;
    storage::SqliteResult<std::vector<ProposalRow>> proposals(const ProposalQuery& query) const;
    storage::SqliteResult<std::optional<ProposalRow>> proposal(std::uint64_t id) const;
    // A step line of at most `points` points, and besides them the latest wins and resets, at most
    // kMaxRows. The cost does not depend on the length of the period.
    storage::SqliteResult<std::vector<AmountRow>> amounts(const AmountQuery& query) const;

private:
    // Of one round, with the columns that `select` names.
    template <class Row, class Read>
    storage::SqliteResult<std::vector<Row>> rowsOfRound(const char* select,
                                                        const std::string& table,
                                                        std::int64_t round, std::string_view order,
                                                        Read&& read) const;
    void open();
    void rebuild();
    void requestPass();
    void run(const std::stop_token& stop);
    void indexNewRecords(const std::stop_token& stop);
    void indexRecords(audit::JournalView& source, const std::stop_token& stop);

    Settings settings_;
    ChangeSignal& signal_;

    mutable std::mutex databaseMutex_;
    std::unique_ptr<SearchDatabase> database_;

    mutable std::mutex progressMutex_;  // guards the members below
    std::condition_variable_any changed_;
    std::uint64_t passesRequested_ = 0;
    std::uint64_t passesDone_ = 0;
    Changes changes_;
    std::string fault_;

    std::jthread thread_;
};

}  // namespace jackpot::console
