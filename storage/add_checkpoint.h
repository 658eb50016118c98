// What a witness is asked with, as c2sp.org/tlog-witness writes it: from which size on, the proof
// that the tree has only grown since, and the signed checkpoint. A value; parsing accepts any
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/note.h"
#include "storage/sha256.h"

namespace jackpot::storage {

struct AddCheckpoint {
    static constexpr std::size_t kMaxHashes = 63;

    std::uint64_t old = 0;
    std::vector<Hash> proof;
    std::string note;

    // Checks the form alone.
    static Result<AddCheckpoint> parse(std::string_view text);
    [[nodiscard]] std::string format() const;
};

}  // namespace jackpot::storage
