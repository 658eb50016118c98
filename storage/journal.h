// The journal: the rules' state and the signed record of how it came about, which is the truth of
// the two.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/outcome.h"
#include "rules/state.h"
#include "storage/journal_file.h"
#include "storage/keys.h"
#include "storage/record.h"

namespace jackpot::storage {

struct JournalSettings {
    std::filesystem::path directory;
    std::uint64_t snapshotEvery = 50'000;  // records; bounds what opening has to replay
    std::string vfs;                       // SQLite's; empty for the system's own
};

// The old key is gone, and two people vouch for the new one. Auditors are handed its verifier key
// by another way, because nothing in the journal can vouch for it.
struct LostKey {
    Verifier old;
    std::vector<std::string> by;
};

// One thread at a time. Records gather in a batch; commit() makes them durable, and only then may
// anyone see what they say. After an error of commit() the object is of no more use: state() may be
// ahead of what is durable, and the journal must be opened again.
class Journal {
public:
    // A new journal in a directory that has none. Its first record says whose it is.
    static Result<Journal, JournalError> create(JournalSettings settings, Signer signer,
                                                rules::TimeMs now);

    // Recovers: the newest snapshot, whose hash is in a record, and the records since, each
    // recomputed, up to the last checkpoint, whose signature and root must hold. Older records are
    // for verify().
    static Result<Journal, JournalError> open(JournalSettings settings, Signer signer,
                                              rules::TimeMs now,
                                              std::optional<LostKey> lost = std::nullopt);

    [[nodiscard]] const rules::State& state() const { return state_; }
    // Records, with those of the batch.
    [[nodiscard]] std::uint64_t size() const
    {
        return (file_ ? file_->size() : receipt_.size) + batch_.size();
    }
    [[nodiscard]] const Receipt& lastReceipt() const { return receipt_; }
    [[nodiscard]] const Verifier& verifier() const { return signer_->verifier(); }
    // No record may be earlier; decide() and add() take a later time instead.
    [[nodiscard]] rules::TimeMs lastTimeMs() const { return lastTimeMs_; }

    // Carries the command out and adds its record to the batch. A command of more than
    // kMaxCommandBytes throws std::length_error: callers that receive commands limit them to far
    // less. One that came over the link has the number that its table's LinkSequence expects; any
    // other throws std::logic_error.
    rules::Outcome decide(const rules::Command& command, rules::TimeMs now,
                          const std::optional<LinkOrigin>& from = std::nullopt);

    // Adds a record that holds no command. The kind is none of the rules' and none of the journal's
    // own, and no key is one of an outcome ("command", "awards", "pools", ...): such a record could
    // not be read again, so it throws std::invalid_argument and adds nothing.
    template <class Fields>
    void add(std::string_view kind, rules::TimeMs now, Fields&& fields)
    {
        std::string payload = writePlainRecord(size(), notBefore(now), kind, fields);
        if (const auto record = readRecord(payload); !record || record->command)
            throw std::invalid_argument{"a plain record cannot be " + payload};
        batch_.push_back(std::move(payload));
    }
    void heartbeat(rules::TimeMs now);

    // One durable transaction with one signed checkpoint; an empty batch changes nothing and
    // returns the last receipt.
    Result<Receipt, JournalError> commit();

    // A record whose checkpoint both keys sign; from there on the new one signs.
    Result<Receipt, JournalError> rotateKey(Signer next, const std::vector<std::string>& by,
                                            rules::TimeMs now);

    // Closes the file into an archive segment, read-only, and goes on in a new one with the same
    // sequence and tree. Returns the segment's path. Refused while a reader has the file open, also
    // one of this process, such as a BackgroundVerification: then nothing has changed, and it may
    // be tried again.
    Result<std::filesystem::path, JournalError> closeSegment(rules::TimeMs now);

    // For idle moments.
    Result<void, JournalError> tidy();

private:
    Journal(JournalSettings settings, JournalLock lock, Signer signer);

    rules::TimeMs notBefore(rules::TimeMs now) { return lastTimeMs_ = std::max(lastTimeMs_, now); }
    Result<Receipt, JournalError> commitWith(std::vector<Signer*> signers);
    void addKeyRotation(const KeyRotation& rotation, rules::TimeMs now);

    JournalSettings settings_;
    JournalLock lock_;
    std::unique_ptr<Signer> signer_;
    std::unique_ptr<JournalFile> file_;
    rules::State state_;
    rules::TimeMs lastTimeMs_ = 0;
    std::uint64_t snapshotAt_ = 0;  // the size of the newest
    std::vector<std::string> batch_;
    Receipt receipt_;
};

// All files of a journal, the archive segments first, in the order of their records. A path of a
// file is that file alone. The names are of one moment, also while the writer closes a segment; who
// opens them next to a writer must be prepared for them to change.
std::vector<std::filesystem::path> filesOf(const std::filesystem::path& directoryOrFile);

}  // namespace jackpot::storage
