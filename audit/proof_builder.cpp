#include "audit/proof_builder.h"

#include <algorithm>
#include <bit>

#include "storage/proof.h"

namespace jackpot::audit {
namespace {

[[noreturn]] void notSigned(const std::string& what)
{
    throw AuditError{DoesNotVerify,
                     what + ": run jackpot-audit verify to learn which record is wrong"};
}

}  // namespace

ProofBuilder::ProofBuilder(JournalView& journal) : journal_{journal}
{
    auto frontier = storage::Frontier::parse(journal.firstFrontier());
    if (!frontier || frontier->size() != journal.first())
        notSigned("the tree before the first record cannot be read");
    takeEdge(journal.firstFrontier());

    const std::uint64_t end = journal.end();
    const std::uint64_t fullFrom = (journal.first() + kBlockRecords - 1) / kBlockRecords;
    const std::uint64_t fullTo = std::max(end / kBlockRecords, fullFrom);
    tail_.clear(end / kBlockRecords);
    const storage::NodeSink sink = [&](unsigned level, std::uint64_t index, const Hash& hash) {
        if (level < kLevel) {
            if (index >> (kLevel - level) == tail_.index) tail_.set(level, index, hash);
            return;
        }
        if (upper_.size() <= level - kLevel) upper_.resize(level - kLevel + 1);
        upper_[level - kLevel].push_back(hash);
    };
    for (const auto& [place, hash] : edge_)
        if (place.first < kLevel && place.second >> (kLevel - place.first) == tail_.index)
            tail_.set(place.first, place.second, hash);

    appendRecords(journal.first(), std::min(fullFrom * kBlockRecords, end), *frontier, sink);
    for (std::uint64_t index = fullFrom; index < fullTo; ++index) {
        const auto stored = journal.node(index);
        if (!stored) notSigned("the stored tree node " + std::to_string(index) + " is missing");
        frontier->appendSubtree(kLevel, *stored, sink);
    }
    appendRecords(frontier->size(), end, *frontier, sink);
    if (frontier->root() != journal.checkpoint().root)
        notSigned("the stored tree does not have the root that was signed");
}

void ProofBuilder::takeEdge(const std::string& frontierText)
{
    std::string_view rest = frontierText;
    rest.remove_prefix(rest.find('\n') + 1);
    std::uint64_t begin = 0;
    for (std::uint64_t size = journal_.first(); size != 0;) {
        const auto level = static_cast<unsigned>(std::bit_width(size) - 1);
        const auto newline = rest.find('\n');
        edge_.emplace(std::pair{level, begin >> level},
                      Hash::fromBase64(rest.substr(0, newline)).value());
        rest.remove_prefix(newline + 1);
        begin += std::uint64_t{1} << level;
        size -= std::uint64_t{1} << level;
    }
}

void ProofBuilder::appendRecords(std::uint64_t from, std::uint64_t to, storage::Frontier& frontier,
                                 const storage::NodeSink& sink)
{
    journal_.forEach(from, to, [&](std::uint64_t, std::string_view payload) {
        frontier.append(storage::leafHash(payload), sink);
        return true;
    });
}

void ProofBuilder::load(std::uint64_t block)
{
    const std::uint64_t begin = block * kBlockRecords;
    loaded_ = false;
    block_.clear(block);
    storage::Frontier frontier;
    std::uint64_t from = begin;
    if (begin < journal_.first()) {
        frontier = storage::Frontier::parse(journal_.firstFrontier()).value();
        from = journal_.first();
        for (const auto& [place, hash] : edge_)
            if (place.first < kLevel && place.second >> (kLevel - place.first) == block)
                block_.set(place.first, place.second, hash);
    }
    // slot() looks at the place within the block alone, so both kinds of frontier will do.
    appendRecords(from, begin + kBlockRecords, frontier,
                  [&](unsigned level, std::uint64_t index, const Hash& hash) {
                      if (level <= kLevel) block_.set(level, index, hash);
                  });
    if (*block_.find(kLevel, block) != node(kLevel, block).value())
        notSigned("records " + std::to_string(from) + " to " +
                  std::to_string(begin + kBlockRecords - 1) + " are not those that were signed");
    loaded_ = true;
}

Result<storage::Hash> ProofBuilder::node(unsigned level, std::uint64_t index) const
{
    if (level < kLevel) {
        if (const Hash* found = block_.find(level, index); found && loaded_) return *found;
        if (const Hash* found = tail_.find(level, index)) return *found;
    } else if (level - kLevel < upper_.size()) {
        const std::uint64_t base = journal_.first() >> level;
        const auto& nodes = upper_[level - kLevel];
        if (index >= base && index - base < nodes.size()) return nodes[index - base];
    }
    if (const auto found = edge_.find({level, index}); found != edge_.end()) return found->second;
    return Error{"the tree node " + std::to_string(level) + "/" + std::to_string(index) +
                 " is not known"};
}

ProofBuilder::Proof ProofBuilder::prove(std::uint64_t seq)
{
    const storage::NodeSource nodes = [this](unsigned level, std::uint64_t index) {
        return node(level, index);
    };
    const std::uint64_t block = seq / kBlockRecords;
    if (block == tail_.index) {
        tailProof_ = storage::inclusionProof(seq, journal_.end(), nodes).value();
        return {tailProof_, tailProof_.size(), block};
    }
    if (!loaded_ || block_.index != block) {
        load(block);
        proof_ = storage::inclusionProof(seq, journal_.end(), nodes).value();
    }
    for (unsigned level = 0; level < kLevel; ++level)
        proof_[level] = node(level, (seq >> level) ^ 1U).value();
    return {proof_, kLevel, block};
}

std::vector<storage::Hash> ProofBuilder::consistency(std::uint64_t oldSize)
{
    if (oldSize < journal_.first())
        throw AuditError{Unreadable, "no growth can be proved from record " +
                                         std::to_string(oldSize) + ": the files begin at " +
                                         std::to_string(journal_.first())};
    const std::uint64_t block = oldSize / kBlockRecords;
    if (oldSize % kBlockRecords != 0 && block != tail_.index && (!loaded_ || block_.index != block))
        load(block);
    auto proof = storage::consistencyProof(
        oldSize, journal_.end(),
        [this](unsigned level, std::uint64_t index) { return node(level, index); });
    if (!proof) throw AuditError{Unreadable, "no growth can be proved: " + proof.error().message};
    return std::move(*proof);
}

std::string proofText(JournalView& journal, std::uint64_t seq)
{
    ProofBuilder tree{journal};
    const ProofBuilder::Proof found = tree.prove(seq);
    storage::Proof proof;
    proof.index = seq;
    proof.hashes.assign(found.hashes.begin(), found.hashes.end());
    proof.checkpoint = journal.note();
    const auto text = proof.format();
    if (!text) throw AuditError{DoesNotVerify, text.error().message};
    return *text;
}

}  // namespace jackpot::audit
