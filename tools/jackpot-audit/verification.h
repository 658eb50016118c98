// A journal verified as a whole, for whoever tells how it went.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audit/journal_view.h"
#include "storage/keys.h"
#include "storage/verify.h"

namespace jackpot::audit {

struct Verification {
    // Opened before it was verified, so that all that it can read was; nullptr where it is too
    // broken to be read. While it lives the writer closes no segment.
    std::unique_ptr<JournalView> journal;
    std::vector<std::filesystem::path> files;  // in the order of their records
    Result<storage::Verified, storage::Fault> result;
};

// Every signature and every outcome. A Stop where something cannot be read at all, or interrupted.
// Uses all processor cores while it runs; `pause` is for what is read from the journal afterwards.
Verification verifyWhole(const std::vector<std::filesystem::path>& paths,
                         const std::vector<storage::Verifier>& keys,
                         const std::optional<std::string>& since, JournalView::Pause pause = {});

}  // namespace jackpot::audit
