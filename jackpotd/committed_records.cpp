#include "jackpotd/committed_records.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "storage/journal.h"
#include "storage/sqlite.h"

namespace jackpot {
namespace {

// Recent records, which are asked for most, are in the newest file.
Result<std::vector<std::filesystem::path>> newestFirst(const std::filesystem::path& directory)
{
    auto files = storage::filesOf(directory);
    if (files.empty()) return Error{directory.string() + ": no journal file can be found"};
    std::ranges::reverse(files);
    return files;
}

}  // namespace

Result<std::optional<CommittedRecord>> readCommittedRecord(
    const std::filesystem::path& journalDirectory, std::uint64_t seq)
{
    const auto files = newestFirst(journalDirectory);
    if (!files) return files.error();
    const auto notReadable = [seq](const storage::SqliteError& error) {
        return Error{"record " + std::to_string(seq) + " can't be read: " + error.message};
    };
    for (const auto& file : *files) {
        auto reader = storage::JournalReader::open(file);
        if (!reader) return notReadable(reader.error());
        if (seq < reader->firstSeq()) continue;
        auto payload = reader->payload(seq);
        if (!payload) return notReadable(payload.error());
        if (!*payload) continue;
        CommittedRecord found{std::move(**payload), {}};
        const auto read = reader->forEachCheckpoint(seq, storage::kMaxTreeSize,
                                                    [&](std::uint64_t, std::string_view note) {
                                                        found.checkpoint = note;
                                                        return false;
                                                    });
        if (!read) return notReadable(read.error());
        return std::optional{std::move(found)};
    }
    return std::optional<CommittedRecord>{};
}

Result<CheckpointMatch> matchCheckpoint(const std::filesystem::path& journalDirectory,
                                        const storage::Checkpoint& checkpoint)
{
    const auto files = newestFirst(journalDirectory);
    if (!files) return files.error();
    const auto notReadable = [&](const storage::SqliteError& error) {
        return Error{"the checkpoint of " + std::to_string(checkpoint.size) +
                     " records can't be read: " + error.message};
    };
    for (const auto& file : *files) {
        auto reader = storage::JournalReader::open(file);
        if (!reader) return notReadable(reader.error());
        if (checkpoint.size <= reader->firstSeq()) continue;
        std::optional<storage::Hash> root;
        const auto read = reader->forEachCheckpoint(
            checkpoint.size - 1, checkpoint.size, [&](std::uint64_t, std::string_view note) {
                if (const auto ours = storage::readCheckpoint(note)) root = ours->root;
                return false;
            });
        if (!read) return notReadable(read.error());
        return root == checkpoint.root ? CheckpointMatch::Same : CheckpointMatch::Different;
    }
    return CheckpointMatch::Archived;
}

}  // namespace jackpot
