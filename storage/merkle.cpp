#include "storage/merkle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <ranges>
#include <stdexcept>

#include "base/encoding.h"

namespace jackpot::storage {
namespace {

// The other half of a split between the root and a leaf or subtree.
struct Sibling {
    std::uint64_t begin;
    std::uint64_t end;
    bool onLeft;
};

struct Path {
    std::uint64_t begin;            // where the subtree begins that the path leads to
    std::vector<Sibling> siblings;  // bottom up
};

enum class Until { Leaf, SubtreeEnd };

// Follows the splits of RFC 6962 from the whole tree down to the leaf before `target`, or to the
// first subtree that ends there: the recursion of both PATH and SUBPROOF. Needs 0 < target <= size.
Path descend(std::uint64_t size, std::uint64_t target, Until until)
{
    std::uint64_t begin = 0;
    std::uint64_t end = size;
    std::vector<Sibling> siblings;
    while (until == Until::Leaf ? end - begin > 1 : end != target) {
        const std::uint64_t middle = begin + std::bit_floor(end - begin - 1);
        if (target <= middle) {
            siblings.push_back({middle, end, false});
            end = middle;
        } else {
            siblings.push_back({begin, middle, true});
            begin = middle;
        }
    }
    std::ranges::reverse(siblings);
    return {begin, std::move(siblings)};
}

Hash foldEdge(std::span<const Hash> edge)
{
    Hash root = edge.back();
    for (const Hash& left : edge.first(edge.size() - 1) | std::views::reverse)
        root = nodeHash(left, root);
    return root;
}

Result<Hash> rangeRoot(std::uint64_t begin, std::uint64_t end, const NodeSource& nodes)
{
    std::vector<Hash> edge;
    while (begin < end) {
        const auto level = static_cast<unsigned>(std::bit_width(end - begin) - 1);
        auto node = nodes(level, begin >> level);
        if (!node) return node.error();
        edge.push_back(*node);
        begin += std::uint64_t{1} << level;
    }
    return foldEdge(edge);
}

Result<std::vector<Hash>> siblingRoots(const Path& path, std::vector<Hash> proof,
                                       const NodeSource& nodes)
{
    for (const Sibling& sibling : path.siblings) {
        auto root = rangeRoot(sibling.begin, sibling.end, nodes);
        if (!root) return root.error();
        proof.push_back(*root);
    }
    return proof;
}

std::optional<Error> outOfRange(std::uint64_t index, std::uint64_t size)
{
    if (size > kMaxTreeSize)
        return Error{"tree size " + std::to_string(size) + " exceeds 2^63 - 1"};
    if (index < size) return std::nullopt;
    return Error{"record " + std::to_string(index) + " is not in a tree of size " +
                 std::to_string(size)};
}

std::optional<Error> outOfOrder(std::uint64_t size1, std::uint64_t size2)
{
    if (size2 > kMaxTreeSize)
        return Error{"tree size " + std::to_string(size2) + " exceeds 2^63 - 1"};
    if (size1 <= size2) return std::nullopt;
    return Error{"a tree of size " + std::to_string(size2) + " can't extend one of size " +
                 std::to_string(size1)};
}

Error wrongLength(std::size_t given, std::size_t wanted)
{
    return Error{"the proof has " + std::to_string(given) + " hashes, needs " +
                 std::to_string(wanted)};
}

}  // namespace

Hash leafHash(std::string_view leaf) { return sha256({std::string_view{"\x00", 1}, leaf}); }

Hash nodeHash(const Hash& left, const Hash& right)
{
    // In one piece: handing OpenSSL three costs as much as hashing them.
    std::array<char, 1 + 2 * sizeof(left.bytes)> both{'\x01'};
    std::memcpy(&both[1], left.bytes.data(), sizeof(left.bytes));
    std::memcpy(&both[1 + sizeof(left.bytes)], right.bytes.data(), sizeof(right.bytes));
    return sha256({std::string_view{both.data(), both.size()}});
}

Hash emptyRoot() { return sha256({}); }

Result<Frontier> Frontier::parse(std::string_view text)
{
    const auto sizeLine = takeLine(text);
    if (!sizeLine) return Error{"frontier: " + sizeLine.error().message};
    const auto size = parseDecimal(*sizeLine);
    if (!size) return Error{"frontier size: " + size.error().message};

    Frontier frontier;
    frontier.size_ = *size;
    for (int missing = std::popcount(*size); missing > 0; --missing) {
        const auto line = takeLine(text);
        if (!line) return Error{"frontier: " + line.error().message};
        const auto hash = Hash::fromBase64(*line);
        if (!hash) return Error{"frontier hash: " + hash.error().message};
        frontier.edge_.push_back(*hash);
    }
    if (!text.empty()) return Error{"frontier: more hashes than its size has subtrees"};
    return frontier;
}

std::string Frontier::format() const
{
    std::string text = std::to_string(size_) + '\n';
    for (const Hash& hash : edge_) text += hash.base64() + '\n';
    return text;
}

Hash Frontier::root() const { return edge_.empty() ? emptyRoot() : foldEdge(edge_); }

void Frontier::appendSubtree(unsigned level, const Hash& root, const NodeSink& completed)
{
    const std::uint64_t leaves = level < 64 ? std::uint64_t{1} << level : 0;
    if (leaves == 0 || size_ % leaves != 0 || leaves > kMaxTreeSize - size_)
        throw std::logic_error{"a subtree of level " + std::to_string(level) + " can't follow " +
                               std::to_string(size_) + " leaves"};

    Hash node = root;
    std::uint64_t index = size_ >> level;
    if (completed) completed(level, index, node);
    for (; index % 2 == 1; index /= 2) {
        node = nodeHash(edge_.back(), node);
        edge_.pop_back();
        ++level;
        if (completed) completed(level, index / 2, node);
    }
    edge_.push_back(node);
    size_ += leaves;
}

Result<std::vector<Hash>> inclusionProof(std::uint64_t index, std::uint64_t size,
                                         const NodeSource& nodes)
{
    if (const auto error = outOfRange(index, size)) return *error;
    return siblingRoots(descend(size, index + 1, Until::Leaf), {}, nodes);
}

Result<std::vector<Hash>> consistencyProof(std::uint64_t size1, std::uint64_t size2,
                                           const NodeSource& nodes)
{
    if (const auto error = outOfOrder(size1, size2)) return *error;
    if (size1 == 0) return std::vector<Hash>{};

    const Path path = descend(size2, size1, Until::SubtreeEnd);
    std::vector<Hash> proof;
    if (path.begin != 0) {
        auto root = rangeRoot(path.begin, size1, nodes);
        if (!root) return root.error();
        proof.push_back(*root);
    }
    return siblingRoots(path, std::move(proof), nodes);
}

Result<void> verifyInclusion(std::uint64_t index, std::uint64_t size, const Hash& leaf,
                             std::span<const Hash> proof, const Hash& root)
{
    if (const auto error = outOfRange(index, size)) return *error;
    const Path path = descend(size, index + 1, Until::Leaf);
    if (proof.size() != path.siblings.size())
        return wrongLength(proof.size(), path.siblings.size());

    Hash node = leaf;
    for (std::size_t i = 0; i < proof.size(); ++i)
        node = path.siblings[i].onLeft ? nodeHash(proof[i], node) : nodeHash(node, proof[i]);
    if (node != root)
        return Error{"record " + std::to_string(index) + " is not the one under this root"};
    return {};
}

Result<void> verifyConsistency(std::uint64_t size1, std::uint64_t size2, const Hash& root1,
                               const Hash& root2, std::span<const Hash> proof)
{
    if (const auto error = outOfOrder(size1, size2)) return *error;
    if ((size1 == 0 && root1 != emptyRoot()) || (size2 == 0 && root2 != emptyRoot()))
        return Error{"the root of a tree of size 0 is not that of the empty tree"};
    if (size1 == 0) return proof.empty() ? Result<void>{} : wrongLength(proof.size(), 0);

    const Path path = descend(size2, size1, Until::SubtreeEnd);
    const std::size_t seeded = path.begin == 0 ? 0 : 1;
    if (proof.size() != path.siblings.size() + seeded)
        return wrongLength(proof.size(), path.siblings.size() + seeded);

    Hash earlier = seeded == 0 ? root1 : proof[0];
    Hash later = earlier;
    for (std::size_t i = 0; i < path.siblings.size(); ++i) {
        const Hash& sibling = proof[i + seeded];
        if (path.siblings[i].onLeft) {
            earlier = nodeHash(sibling, earlier);
            later = nodeHash(sibling, later);
        } else {
            later = nodeHash(later, sibling);
        }
    }
    if (earlier != root1)
        return Error{"the proof does not lead to the root of size " + std::to_string(size1)};
    if (later != root2)
        return Error{"the proof does not lead to the root of size " + std::to_string(size2)};
    return {};
}

}  // namespace jackpot::storage
