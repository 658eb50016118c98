// The newest checkpoint of a journal that a witness or an auditor has kept.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "storage/keys.h"
#include "storage/note.h"

namespace jackpot::ctl {

struct KeptCheckpoint {
    std::string note;
    storage::Checkpoint checkpoint;
};

// The largest checkpoint near the end of the file that one of the keys has signed. The file holds
// one signed checkpoint (jackpot-audit witness, verify --keep) or one per line (the daemon's
// [witness] file). A CommandError if there is none.
KeptCheckpoint newestIn(const std::filesystem::path& file,
                        const std::vector<storage::Verifier>& keys);

}  // namespace jackpot::ctl
