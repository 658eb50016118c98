// Verifies one file of a journal. Only verify.cpp uses it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "storage/keys.h"
#include "storage/merkle.h"
#include "storage/note.h"
#include "storage/replay.h"
#include "storage/verify.h"

namespace jackpot::storage {

// Thrown by the functions of a verification; verify() returns the fault.
struct VerificationFailed {
    Fault fault;
};

// The values that pass from record to record and from file to file.
struct VerificationProgress {
    Frontier frontier;
    Replay replay;
    std::vector<Verifier> keys;  // in the order in which they signed
    std::size_t trustFrom = 0;   // into `keys`: after the last that was lost
    bool sinceSeen = false;
    std::uint64_t done = 0;   // records
    std::uint64_t total = 0;  // of all files
};

// Throws VerificationFailed or SqliteFailure. Returns false if it was requested to stop. `isFirst`
// and `isLast`: of the files of the journal.
bool verifyFile(const std::filesystem::path& file, const VerifyOptions& options,
                const std::optional<Checkpoint>& since, VerificationProgress& progress,
                Verified& verified, bool isFirst, bool isLast);

}  // namespace jackpot::storage
