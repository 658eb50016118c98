// The book's database: its tables, and what each record of the journal puts into them. The same
// records give the same rows. One thread at a time.
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
    // Opens the file, or makes it where there is none or one of another form; an empty name is in
    // memory.
    explicit SearchDatabase(const std::filesystem::path& file);

    // The next record to be added, and the hash of the one before: what ties it to its journal.
    [[nodiscard]] std::uint64_t next() const { return next_; }
    [[nodiscard]] const std::string& lastHash() const { return lastHash_; }

    // Forgets everything; what comes next is record `first`.
    void clear(std::uint64_t first);
    void begin() { database_.execute("BEGIN"); }
    // Of the transaction: `payload` is record next(). Throws audit::Stop where it cannot be read.
    void add(std::uint64_t seq, std::string_view payload);
    void commit();
    void rollBack();

    // One more than the last record that changed them, of those that were added since it was
    // opened.
    struct ChangedSince {
        std::uint64_t claims = 0;
        std::uint64_t notices = 0;
        std::uint64_t proposals = 0;
    };
    [[nodiscard]] const ChangedSince& touched() const { return touched_; }

    storage::Database& database() { return database_; }

private:
    void addRecord();
    void addClaims();
    void addAwards();
    void addPayment();
    void addNotices();
    void addProposals();
    void addAmounts();
    void notice(std::int64_t place, std::string_view whom, std::string_view rule,
                const std::string& text);
    void markAward(const audit::Json& ref, std::string_view state);
    void carriedOut();

    storage::Statement& statement(std::string_view sql);

    storage::Database database_;
    std::map<std::string, storage::Statement, std::less<>> statements_;
    audit::Payload record_;
    ChangedSince touched_;
    std::uint64_t next_ = 0;
    std::string lastHash_;
    std::uint64_t committedNext_ = 0;
    std::string committedHash_;
};

}  // namespace jackpot::console
