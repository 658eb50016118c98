// Verifies a whole journal, with progress on the terminal.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audit/journal_view.h"
#include "storage/keys.h"
#include "storage/verify.h"

namespace jackpot::cli {

struct Verification {
    // Opened before the verification, so that every record it can read was verified; nullptr if
    // the journal is too damaged to be read. While it lives the writer closes no segment.
    std::unique_ptr<audit::JournalView> journal;
    std::vector<std::filesystem::path> files;  // in the order of their records
    Result<storage::Verified, storage::Fault> result;
};

// Checks every signature and every outcome. An AuditError if a file cannot be read, a CommandError
// if interrupted. Uses all processor cores; `pause` is called by later reads of `journal`.
Verification verifyWhole(const std::vector<std::filesystem::path>& paths,
                         const std::vector<storage::Verifier>& keys,
                         const std::optional<std::string>& since,
                         audit::JournalView::Pause pause = {});

}  // namespace jackpot::cli
