// The book: what has happened, for people who search. A disposable database that is filled from the
// journal after each commit; delete it, and it is made again. Nothing in it decides anything: money
// and proposals are decided by the rules and the journal.
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

#include "rules/commands.h"
#include "rules/money.h"

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

// What is empty does not matter. Newest first; with `after`, those after that record, oldest first.
struct RecordQuery {
    std::string kind;
    std::string pool;
    std::string table;
    std::string who;
    std::optional<std::int64_t> round;
    std::optional<rules::TimeMs> fromMs;  // from <= time < to
    std::optional<rules::TimeMs> toMs;
    std::optional<std::uint64_t> after;
    std::optional<std::uint64_t> before;
    std::size_t limit = 100;
};

struct AwardRow {
    std::uint64_t seq = 0;   // the record
    std::int64_t place = 0;  // in its order of payment, from 1
    std::string table;
    std::int64_t round = 0;
    std::int64_t seat = 0;
    std::string tier;
    rules::Money amount;
    std::string rule;
    std::string form;  // "jackpot", "fixed", "bonus"
    std::string arithmetic;
    std::string state;  // "due", "paid", "withheld", "withdrawn"
    std::optional<std::uint64_t> stateSeq;
    std::optional<rules::Money> paid;
    std::string how;
    std::string by;
    bool operator==(const AwardRow&) const = default;
};

// A jackpot of one seat.
struct ClaimRow {
    std::int64_t id = 0;  // in the order of claims
    std::string pool;
    std::string table;
    std::int64_t round = 0;
    std::int64_t seat = 0;
    std::string tier;
    std::string state;  // claimed, pending, held, settled, dropped, paid, withheld
    std::string board;  // "7D"
    std::string cards;  // "7H 7C"
    std::uint64_t claimedSeq = 0;
    rules::TimeMs claimedMs = 0;
    std::uint64_t changedSeq = 0;
    std::optional<rules::TimeMs> confirmedMs;  // the confirmation's arrival
    std::optional<rules::TimeMs> pressedMs;    // the button, by the table's word
    bool operator==(const ClaimRow&) const = default;
};

struct ClaimQuery {
    std::string state;
    std::string pool;
    std::string table;
    std::optional<std::int64_t> before;  // an id
    std::size_t limit = 100;
};

struct NoticeRow {
    std::string id;  // "17.1": the first of record 17
    std::uint64_t seq = 0;
    rules::TimeMs timeMs = 0;
    std::string whom;  // "inspector", "surveillance_and_inspector"
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
    std::optional<std::string> delivery;  // oldest first, of records not before fromMs
    rules::TimeMs fromMs = 0;
    std::optional<std::uint64_t> before;  // a record
    std::size_t limit = 100;
};

struct ProposalRow {
    std::uint64_t id = 0;  // its record
    rules::TimeMs madeMs = 0;
    rules::TimeMs expiresMs = 0;
    std::string by;
    std::string reason;
    std::string proposed;  // as in proposedText()
    std::string sha256;
    std::string words;
    // open, approved (and not carried out: cut off in between), done, refused (by the rules),
    // rejected, withdrawn. An open one past expiresMs has expired.
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

// What a pool displayed from some moment on.
struct AmountRow {
    rules::TimeMs timeMs = 0;
    std::uint64_t seq = 0;
    rules::Money displayed;
    // What it displayed before, where a jackpot or a reset brought it down or up at once.
    std::optional<rules::Money> before;
    bool operator==(const AmountRow&) const = default;
};

struct AmountQuery {
    std::string pool;
    std::optional<rules::TimeMs> fromMs;  // the first amount there is, unless given
    std::optional<rules::TimeMs> toMs;    // the last
    std::size_t points = 120;
};

inline constexpr std::size_t kMaxRows = 500;

// Questions are for any thread; what answers is of one moment, and only what is committed. They
// throw storage::SqliteFailure where the database cannot be read.
class SearchIndex {
public:
    struct Settings {
        std::filesystem::path journal;  // the directory
        // Empty: search.db in that directory, or in memory where that may not be written.
        std::filesystem::path file;
        std::chrono::milliseconds every{200};  // how often it looks by itself
        std::size_t page = 500;                // records in one transaction
    };
    explicit SearchIndex(Settings settings);
    SearchIndex(const SearchIndex&) = delete;
    SearchIndex& operator=(const SearchIndex&) = delete;
    ~SearchIndex();

    // Reads what the journal has by now. False where that took longer or could not be done.
    bool catchUp(std::chrono::milliseconds timeout);
    // Waits until this record is in it.
    bool waitUntil(std::uint64_t seq, std::chrono::milliseconds timeout);
    [[nodiscard]] std::uint64_t size() const { return changes().records; }
    // One more than the last record in it, and the last that changed claims, notices or proposals
    // since it was opened.
    struct Changes {
        std::uint64_t records = 0;
        std::uint64_t claims = 0;
        std::uint64_t notices = 0;
        std::uint64_t proposals = 0;
        bool operator==(const Changes&) const = default;
    };
    [[nodiscard]] Changes changes() const;
    // Why it lags behind; empty where it does not.
    [[nodiscard]] std::string fault() const;

    // At most kMaxRows each, whatever is asked for.
    std::vector<RecordRow> records(const RecordQuery& query) const;
    std::optional<RecordRow> record(std::uint64_t seq) const;
    std::vector<ClaimRow> claims(const ClaimQuery& query) const;
    std::vector<ClaimRow> claimsOf(const std::string& table, std::int64_t round) const;
    // In the order of payment.
    std::vector<AwardRow> awardsOf(const std::string& table, std::int64_t round) const;
    std::vector<NoticeRow> notices(const NoticeQuery& query) const;
    std::optional<NoticeRow> notice(const std::string& id) const;
    std::vector<ProposalRow> proposals(const ProposalQuery& query) const;
    std::optional<ProposalRow> proposal(std::uint64_t id) const;
    // A step line of at most so many points, and every win and reset besides (at most kMaxRows, the
    // latest). Its cost does not depend on the period.
    std::vector<AmountRow> amounts(const AmountQuery& query) const;

private:
    void open();
    void beginAnew();
    void run(const std::stop_token& stop);
    void pass(const std::stop_token& stop);
    void add(audit::JournalView& source, const std::stop_token& stop);

    Settings settings_;

    mutable std::mutex mutex_;  // of the database
    std::unique_ptr<SearchDatabase> index_;

    mutable std::mutex state_;
    std::condition_variable_any changed_;
    std::uint64_t asked_ = 0;  // passes
    std::uint64_t answered_ = 0;
    Changes changes_;
    std::string fault_;

    std::jthread thread_;
};

}  // namespace jackpot::console
