// Reading one file of a journal: records, checkpoints, tree nodes and snapshots.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/merkle.h"
#include "storage/sqlite.h"

namespace jackpot::storage {

// The subtrees whose roots are stored: one row for 256 records.
inline constexpr unsigned kNodeLevel = 8;

struct SnapshotRow {
    std::uint64_t size = 0;
    std::string state;
    std::string frontier;
};

// Reads one journal file, also while it is being written, in short transactions, so that it never
// blocks the writer. One thread at a time. After an error the reader can still be used.
class JournalReader {
public:
    static SqliteResult<JournalReader> open(const std::filesystem::path& file,
                                            const std::string& vfs = {});

    // How the file's schema differs from that of a journal. With a fault, no function but
    // isNewer() and hasJournalTable() may be called.
    const std::optional<Error>& schemaFault() const { return schemaFault_; }
    // The fault is that a newer version of this program wrote the file.
    bool isNewer() const { return isNewer_; }
    SqliteResult<bool> hasJournalTable();
    // Why the first rows are not those that the file must begin with.
    SqliteResult<std::optional<Error>> findExtentFault();
    std::uint64_t firstSeq() const { return first_; }
    // The tree before the first record of the file, in Frontier's text form.
    const std::string& firstFrontier() const { return firstFrontier_; }

    // The largest seq in the file plus one; firstSeq() if the file has no records.
    SqliteResult<std::uint64_t> endSeq();
    SqliteResult<std::optional<std::string>> payload(std::uint64_t seq);
    // Calls `visit` for each row with from <= seq < to, in order, until it returns false. The view
    // is valid during the call.
    using VisitPayload = std::function<bool(std::uint64_t seq, std::string_view payload)>;
    SqliteResult<void> forEachPayload(std::uint64_t from, std::uint64_t to,
                                      const VisitPayload& visit);
    // forEachPayload() for a file that is not trusted: in a damaged index a scan can find a row
    // that a search by its number does not find. Such a row is an error.
    SqliteResult<void> forEachPayloadVerified(std::uint64_t from, std::uint64_t to,
                                              const VisitPayload& visit);
    // Damage in the indexes of the other tables, which are small.
    SqliteResult<std::optional<Error>> findIndexFault();
    // Calls `visit` for each checkpoint with from < size <= to, in order, until it returns false.
    SqliteResult<void> forEachCheckpoint(
        std::uint64_t from, std::uint64_t to,
        const std::function<bool(std::uint64_t size, std::string_view note)>& visit);
    // The last checkpoint's signed note.
    SqliteResult<std::optional<std::string>> lastNote();
    // The size under which the last checkpoint is stored.
    SqliteResult<std::uint64_t> lastSize();
    SqliteResult<std::optional<Hash>> node(std::uint64_t index);
    SqliteResult<void> forEachNode(
        const std::function<void(std::uint64_t index, std::string_view hash)>& visit);
    SqliteResult<std::vector<SnapshotRow>> snapshots();

    // Between the two, all reads see the file as it was at the first of them.
    SqliteResult<void> beginRead();
    SqliteResult<void> endRead();
    // Instead of endRead() after an error.
    void abandonRead() noexcept;

private:
    explicit JournalReader(Database database);
    std::optional<Error> findSchemaFault();
    void visitPayloads(std::uint64_t from, std::uint64_t to, const VisitPayload& visit);
    void requireFound(std::uint64_t seq);
    [[nodiscard]] int pagesRead() const;

    Database database_;
    bool isNewer_ = false;
    std::optional<Error> schemaFault_;
    std::uint64_t first_ = 0;
    std::string firstFrontier_;
    std::optional<Statement> payload_;
    std::optional<Statement> isThere_;
    std::optional<Statement> payloads_;
    std::optional<Statement> checkpoints_;
    std::optional<Statement> node_;
};

}  // namespace jackpot::storage
