// Inclusion proofs for many records of a journal, from the stored roots of 256 records each.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "audit/journal_view.h"
#include "storage/merkle.h"

namespace jackpot::audit {

// Memory: 64 bytes for 256 records of the journal, and one block. Borrows the journal. A tree that
// does not have the signed root is an AuditError. One thread at a time.
class ProofBuilder {
public:
    explicit ProofBuilder(JournalView& journal);

    struct Proof {
        std::span<const storage::Hash> hashes;  // until the next call
        std::size_t sharedFrom = 0;  // from here on they are those of all records of the block
        std::uint64_t block = 0;
    };
    // Records of one block after the other cost a few hashes each. A record that is not the one
    // that was signed is an AuditError.
    Proof prove(std::uint64_t seq);
    // Proves that the tree of `oldSize` records is the start of this one; RFC 6962 section 2.1.2.
    // An AuditError where those records are not all here.
    std::vector<storage::Hash> consistency(std::uint64_t oldSize);

private:
    using Hash = storage::Hash;
    static constexpr unsigned kLevel = storage::kNodeLevel;
    static constexpr std::uint64_t kBlockRecords = std::uint64_t{1} << kLevel;

    // The nodes below one stored root, as far as they are known.
    struct Block {
        std::uint64_t index = 0;
        std::array<Hash, 2 * kBlockRecords> nodes;
        std::bitset<2 * kBlockRecords> known;

        void clear(std::uint64_t newIndex)
        {
            index = newIndex;
            known.reset();
        }
        // A node of this block by its place in the whole tree.
        static std::size_t slot(unsigned level, std::uint64_t nodeIndex)
        {
            const std::uint64_t width = kBlockRecords >> level;
            return static_cast<std::size_t>(width + nodeIndex % width);
        }
        void set(unsigned level, std::uint64_t nodeIndex, const Hash& hash)
        {
            nodes.at(slot(level, nodeIndex)) = hash;
            known.set(slot(level, nodeIndex));
        }
        [[nodiscard]] const Hash* find(unsigned level, std::uint64_t nodeIndex) const
        {
            const std::size_t at = slot(level, nodeIndex);
            return nodeIndex >> (kLevel - level) == index && known.test(at) ? &nodes.at(at)
                                                                            : nullptr;
        }
    };

    void takeEdge(const std::string& frontierText);
    void appendRecords(std::uint64_t from, std::uint64_t to, storage::Frontier& frontier,
                       const storage::NodeSink& sink);
    void load(std::uint64_t block);
    Result<Hash> node(unsigned level, std::uint64_t index) const;

    JournalView& journal_;
    std::map<std::pair<unsigned, std::uint64_t>, Hash> edge_;  // of what was before the files
    std::vector<std::vector<Hash>> upper_;  // by level from kLevel up, from first >> level on
    Block tail_;                            // the last one, where it is not full
    Block block_;
    bool loaded_ = false;
    std::vector<Hash> proof_;      // of the last record asked for in the block
    std::vector<Hash> tailProof_;  // of the last record asked for in the tail
};

// One record's proof against the journal's last checkpoint, as a file (storage/proof.h).
std::string proofText(JournalView& journal, std::uint64_t seq);

}  // namespace jackpot::audit
