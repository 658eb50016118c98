// One record's proof, to be checked offline with a verifier key alone, as C2SP tlog-proof@v1 writes
// it. A value; parsing accepts any bytes. What parses formats back to the same bytes, and only what
// would parse again is formatted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/keys.h"
#include "storage/note.h"
#include "storage/sha256.h"

namespace jackpot::storage {

inline constexpr std::size_t kMaxProofBytes = 2 * kMaxNoteBytes;

struct Proof {
    std::uint64_t index = 0;   // zero-based: the record's leaf
    std::vector<Hash> hashes;  // of the inclusion proof, from the leaf's sibling up
    Note checkpoint;
    std::string extra;  // what its writer added; nobody has signed it

    // Checks the form alone. Nothing in it may be believed before checkProof().
    static Result<Proof> parse(std::string_view text);
    Result<std::string> format() const;

    bool operator==(const Proof&) const = default;
};

// The checkpoint, signed by this key, of a tree in which the record is the leaf at the proof's
// index.
Result<Checkpoint> checkProof(std::string_view record, const Proof& proof,
                              const Verifier& verifier);

}  // namespace jackpot::storage
