// Reads committed records and checkpoints from the journal's files, read-only. A read may fail
// while the daemon is healthy (the file is busy, no descriptor is left): that is the error of the
// request that needed it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "storage/note.h"

namespace jackpot {

struct CommittedRecord {
    std::string payload;
    std::string checkpoint;  // the first signed note that covers the record
};
// Nothing if no file in the directory has the record.
Result<std::optional<CommittedRecord>> readCommittedRecord(
    const std::filesystem::path& journalDirectory, std::uint64_t seq);

enum class CheckpointMatch : std::uint8_t {
    Same,       // the journal has a checkpoint of this size and root
    Different,  // it has none, or one with another root
    Archived,   // the file that would have it is not in the directory any more
};
// `checkpoint` is not larger than the journal.
Result<CheckpointMatch> matchCheckpoint(const std::filesystem::path& journalDirectory,
                                        const storage::Checkpoint& checkpoint);

}  // namespace jackpot
