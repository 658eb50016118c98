// The newest checkpoint that others have kept of a journal.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "storage/keys.h"
#include "storage/note.h"

namespace jackpot::tools {

struct Witnessed {
    std::string note;
    storage::Checkpoint checkpoint;
};

// Of a file that holds one signed checkpoint (jackpot-audit witness, verify --keep), or a line for
// each (the daemon's [witness] file): the largest near its end that one of the keys has signed. A
// Stop where there is none.
Witnessed newestIn(const std::filesystem::path& file, const std::vector<storage::Verifier>& keys);

}  // namespace jackpot::tools
