// The Merkle tree of RFC 6962 section 2.1. A complete subtree is named by its level (0 = leaves)
// and its index among those of its level: it covers the leaves [index * 2^level, (index + 1) *
// 2^level).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/sha256.h"

namespace jackpot::storage {

inline constexpr std::uint64_t kMaxTreeSize = std::numeric_limits<std::int64_t>::max();

Hash leafHash(std::string_view leaf);
Hash nodeHash(const Hash& left, const Hash& right);
Hash emptyRoot();

// Told each complete subtree, children before parents. Must not throw.
using NodeSink = std::function<void(unsigned level, std::uint64_t index, const Hash& root)>;

// Answers the root of a complete subtree, or why it can't.
using NodeSource = std::function<Result<Hash>(unsigned level, std::uint64_t index)>;

// The right edge of a tree: the roots of its largest complete subtrees, enough to append and to
// know the root. A value; no locking. A chunk of 2^n leaves hashed on another thread has as its
// root the root of a Frontier of its own, to be appended here in order with appendSubtree(n, ...).
class Frontier {
public:
    // The text of a frontier: its size, then its hashes in base64, the largest subtree first, a
    // line each. What is read is well-formed, no more: only a root that equals a signed one makes
    // it true.
    static Result<Frontier> parse(std::string_view text);
    std::string format() const;

    std::uint64_t size() const noexcept { return size_; }
    Hash root() const;

    // These throw std::logic_error where the size is no multiple of 2^level or the tree would
    // exceed kMaxTreeSize, and then change nothing.
    void append(const Hash& leaf, const NodeSink& completed = {})
    {
        appendSubtree(0, leaf, completed);
    }
    void appendSubtree(unsigned level, const Hash& root, const NodeSink& completed = {});

    bool operator==(const Frontier&) const = default;

private:
    std::uint64_t size_ = 0;
    std::vector<Hash> edge_;
};

// RFC 6962 section 2.1.1 and 2.1.2. Each asks the source for at most two nodes a level. Errors: an
// index or a size out of range, or what the source answered. The proof from the empty tree is
// empty.
Result<std::vector<Hash>> inclusionProof(std::uint64_t index, std::uint64_t size,
                                         const NodeSource& nodes);
Result<std::vector<Hash>> consistencyProof(std::uint64_t size1, std::uint64_t size2,
                                           const NodeSource& nodes);

// Any arguments are safe; a proof of the wrong length is refused before anything is hashed. A proof
// alone does not tell its tree's size from some others: size and root must come from the same
// signed checkpoint.
Result<void> verifyInclusion(std::uint64_t index, std::uint64_t size, const Hash& leaf,
                             std::span<const Hash> proof, const Hash& root);
Result<void> verifyConsistency(std::uint64_t size1, std::uint64_t size2, const Hash& root1,
                               const Hash& root2, std::span<const Hash> proof);

}  // namespace jackpot::storage
