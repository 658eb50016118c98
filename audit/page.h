// All reports on one page for a regulator: HTML that needs nothing else, on a screen or on paper.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/report.h"
#include "storage/verify.h"

namespace jackpot::audit {

struct PageRequest {
    ReportRequest report;               // its `last` and `form` do not matter
    std::optional<std::uint64_t> last;  // awards in each list; else as kOtherAwards says
    std::vector<std::string> keys;      // that it was verified with: "name+1a2b3c4d+..."
    std::vector<std::string> signers;   // of the checkpoint: "name+1a2b3c4d"
};

// Of awards other than jackpots the last so many are listed where no period was asked for; of a
// period, all are. Jackpots are all listed.
inline constexpr std::uint64_t kOtherAwards = 25;

// The same journal, up to the same checkpoint, and the same request make the same page, to the
// byte. `journal` is nullptr where it cannot be read at all. If the journal does not verify,
// the page shows the fault and everything that can be read. Returns true if the journal verifies
// and its reconciliation agrees.
bool writePage(JournalView* journal, const Result<storage::Verified, storage::Fault>& verified,
               const PageRequest& request, Output& out);

}  // namespace jackpot::audit
