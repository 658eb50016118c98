// The database behind the search index: its tables, and the rows that each record of the journal
// adds. The same records always give the same rows. Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "audit/record.h"
#include "storage/sqlite.h"

namespace jackpot::console {

class SearchDatabase {
public:
    // Opens the file. Creates it if it is missing, damaged or of another version. An empty name
    // makes a database in memory.
    explicit SearchDatabase(const std::filesystem::path& file);

    // The number of the next record to add, and the hash of the record before it. The hash shows
    // whether the database belongs to the journal.
    [[nodiscard]] std::uint64_t next() const { return next_; }
    [[nodiscard]] const std::string& lastHash() const { return lastHash_; }

    // Deletes every row; the next record to add is `first`.
    void clear(std::uint64_t first);
    void begin() { database_.execute("BEGIN"); }
    // Call within a transaction; `seq` is next(). Throws an audit::AuditError if the payload cannot
    // be read.
    void add(std::uint64_t seq, std::string_view payload);
    void commit();
    void rollBack();

    // For each table, one more than the last record since opening that changed it; 0 if none did.
    struct LastChanged {
        std::uint64_t claims = 0;
        std::uint64_t notices = 0;
        std::uint64_t proposals = 0;
    };
    [[nodiscard]] const LastChanged& lastChanged() const { return lastChanged_; }

    storage::Database& connection() { return database_; }

private:
    void addRecord();
    void addClaims();
    void addAwards();
    void addPayment();
    void addNotices();
    void addNoticeEvents();
    void addProposals();
    void addAmounts();
    void addNotice(std::int64_t place, std::string_view whom, std::string_view rule,
                   const std::string& text);
    void markAward(const rules::AwardRef& award, std::string_view state);
    void markProposalDone();

    storage::Statement& statement(std::string_view sql);

    storage::Database database_;
    std::map<std::string, storage::Statement, std::less<>> statements_;
    audit::Payload record_;
    LastChanged lastChanged_;
    std::uint64_t next_;
    std::string lastHash_;
    std::uint64_t committedNext_;
    std::string committedHash_;
};

}  // namespace jackpot::console
