// A journal to read from: its files as one run of records, up to the last checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/audit_error.h"
#include "rules/commands.h"
#include "rules/state.h"
#include "storage/journal_file.h"
#include "storage/note.h"

namespace jackpot::audit {

// The writer gave the files new names meanwhile, or that may be the reason: worth another try.
class JournalMoved : public AuditError {
public:
    using AuditError::AuditError;
};

// Reads short transactions of at most kPageRecords, so that the writer is never held up. Closing
// the journal's last file into an archive segment is refused to the writer for as long as this
// object lives; it tries again later. What cannot be read is an AuditError. One thread at a time.
class JournalView {
public:
    static constexpr std::uint64_t kPageRecords = 1000;

    // The files of a journal in the order of their records, whatever state they are in.
    static std::vector<std::filesystem::path> filesInOrder(
        const std::vector<std::filesystem::path>& journal);

    static constexpr std::size_t kAllFiles = std::numeric_limits<std::size_t>::max();
    // Called outside of any transaction before each page of a longer run and after the last, with
    // what of it is read: to show how far it is, or to end it with an AuditError.
    using Pause = std::function<void(std::uint64_t done, std::uint64_t total)>;

    // Directories and files of one journal in any order; of a directory, only the last
    // `filesAtMost`.
    explicit JournalView(const std::vector<std::filesystem::path>& journal,
                         std::size_t filesAtMost = kAllFiles, Pause pause = {});

    [[nodiscard]] std::uint64_t first() const { return parts_.front().first; }
    [[nodiscard]] std::uint64_t end() const { return checkpoint_.size; }
    [[nodiscard]] const std::string& noteText() const { return noteText_; }
    [[nodiscard]] const storage::Note& note() const { return note_; }
    [[nodiscard]] const storage::Checkpoint& checkpoint() const { return checkpoint_; }
    // In the order of their records.
    [[nodiscard]] std::vector<std::filesystem::path> files() const;
    // Whether the last file is still the one that was opened: the writer may have closed it into a
    // segment at the very moment of opening.
    [[nodiscard]] bool isSettled() const;

    // Each record with from <= seq < to, in order; one that is missing is an AuditError. The view
    // lives for the call, which is outside of any transaction and may ask for other records. False
    // ends it.
    using Visit = std::function<bool(std::uint64_t seq, std::string_view payload)>;
    void forEach(std::uint64_t from, std::uint64_t to, const Visit& visit);
    std::string payload(std::uint64_t seq);
    // The first record that is not before the time, or end(): times never decrease.
    std::uint64_t firstNotBefore(rules::TimeMs timeMs);

    // A stored root of a subtree of 256 records.
    std::optional<storage::Hash> node(std::uint64_t index);
    // The tree before first(), in Frontier's text form.
    const std::string& firstFrontier();

    // The state before a record at or before `seq`, as near as there is a snapshot that the journal
    // names, or the empty one before record 0.
    struct Start {
        std::uint64_t seq = 0;
        rules::State state;
    };
    Start startBefore(std::uint64_t seq);

private:
    struct JournalPart {
        std::filesystem::path file;
        std::optional<storage::FileIdentity> identity;
        std::uint64_t first = 0;
        std::uint64_t end = 0;
    };

    void open(const std::filesystem::path& file);
    void checkParts() const;
    void readCheckpoint();
    void requireSettled() const;
    std::size_t partOf(std::uint64_t seq) const;
    storage::JournalReader& readerOf(std::size_t part);

    Pause pause_;
    std::vector<JournalPart> parts_;
    std::unique_ptr<storage::JournalReader> last_;   // of the file that is being written
    std::unique_ptr<storage::JournalReader> other_;  // of the archive segment in use
    std::size_t otherPart_ = 0;
    std::string noteText_;
    storage::Note note_;
    storage::Checkpoint checkpoint_;
};

}  // namespace jackpot::audit
