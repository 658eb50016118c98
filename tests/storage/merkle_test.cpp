#include "storage/merkle.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <future>
#include <map>
#include <stdexcept>

#include "base/encoding.h"
#include "tests/support/random.h"

namespace jackpot::storage {
namespace {

Hash fromHex(std::string_view text) { return Hash::fromBytes(decodeHex(text).value()).value(); }

std::vector<Hash> fromHex(std::initializer_list<std::string_view> texts)
{
    std::vector<Hash> hashes;
    for (const std::string_view text : texts) hashes.push_back(fromHex(text));
    return hashes;
}

// The definitions of RFC 6962 section 2.1, word for word, over the leaves [begin, end).
class NaiveTree {
public:
    explicit NaiveTree(std::vector<std::string> leaves) : leaves_{std::move(leaves)} {}

    using Range = std::pair<std::uint64_t, std::uint64_t>;

    Hash mth(std::uint64_t begin, std::uint64_t end)
    {
        if (begin == end) return sha256({});
        if (end - begin == 1) return sha256({std::string_view{"\0", 1}, leaves_[begin]});
        if (const auto known = roots_.find({begin, end}); known != roots_.end())
            return known->second;
        const std::uint64_t k = split(end - begin);
        const Hash root =
            sha256({"\x01", mth(begin, begin + k).view(), mth(begin + k, end).view()});
        return roots_[{begin, end}] = root;
    }

    static std::uint64_t split(std::uint64_t n)
    {
        std::uint64_t k = 1;
        while (k * 2 < n) k *= 2;
        return k;
    }

    // What the proofs consist of; the same turns with another size prove the same.
    struct Turn {
        Range range;
        char side;  // of the sibling: L, R, or S for the subtree that a consistency proof starts
                    // from

        bool operator==(const Turn& other) const { return side == other.side; }
    };

    static std::vector<Turn> path(std::uint64_t m, std::uint64_t begin, std::uint64_t end)
    {
        if (end - begin <= 1) return {};
        const std::uint64_t k = split(end - begin);
        auto turns = m < k ? path(m, begin, begin + k) : path(m - k, begin + k, end);
        turns.push_back(m < k ? Turn{{begin + k, end}, 'R'} : Turn{{begin, begin + k}, 'L'});
        return turns;
    }

    static std::vector<Turn> subproof(std::uint64_t m, std::uint64_t begin, std::uint64_t end,
                                      bool complete)
    {
        if (m == end - begin)
            return complete ? std::vector<Turn>{} : std::vector<Turn>{{{begin, end}, 'S'}};
        const std::uint64_t k = split(end - begin);
        auto turns = m <= k ? subproof(m, begin, begin + k, complete)
                            : subproof(m - k, begin + k, end, false);
        turns.push_back(m <= k ? Turn{{begin + k, end}, 'R'} : Turn{{begin, begin + k}, 'L'});
        return turns;
    }

    std::vector<Hash> hashes(const std::vector<Turn>& turns)
    {
        std::vector<Hash> proof;
        for (const Turn& turn : turns) proof.push_back(mth(turn.range.first, turn.range.second));
        return proof;
    }

private:
    std::vector<std::string> leaves_;
    std::map<Range, Hash> roots_;
};

// The nodes a journal would store, and how often they are asked for.
struct StoredNodes {
    std::map<std::pair<unsigned, std::uint64_t>, Hash> nodes;
    unsigned asked = 0;

    NodeSink sink()
    {
        return [this](unsigned level, std::uint64_t index, const Hash& root) {
            REQUIRE(nodes.try_emplace({level, index}, root).second);
        };
    }
    NodeSource source()
    {
        return [this](unsigned level, std::uint64_t index) -> Result<Hash> {
            ++asked;
            const auto found = nodes.find({level, index});
            if (found == nodes.end()) return Error{"no such node"};
            return found->second;
        };
    }
};

std::vector<std::string> distinctLeaves(std::size_t count)
{
    std::vector<std::string> leaves;
    for (std::size_t i = 0; i < count; ++i) leaves.push_back("record " + std::to_string(i));
    return leaves;
}

Hash flipped(Hash hash, std::mt19937_64& random)
{
    const auto bit = below(random, 256);
    hash.bytes[bit / 8] = static_cast<std::uint8_t>(hash.bytes[bit / 8] ^ (1U << bit % 8));
    return hash;
}

// Every way to spoil a proof by one hash.
std::vector<std::vector<Hash>> spoiled(const std::vector<Hash>& proof, std::mt19937_64& random)
{
    std::vector<std::vector<Hash>> all;
    const auto place = [](auto& hashes, std::size_t i) {
        return hashes.begin() + static_cast<std::ptrdiff_t>(i);
    };
    for (std::size_t i = 0; i < proof.size(); ++i) {
        auto& changed = all.emplace_back(proof);
        changed[i] = flipped(changed[i], random);
        auto& shorter = all.emplace_back(proof);
        shorter.erase(place(shorter, i));
        auto& longer = all.emplace_back(proof);
        longer.insert(place(longer, i), proof[i]);
        if (i > 0) std::swap(all.emplace_back(proof)[i - 1], all.back()[i]);
    }
    all.emplace_back(proof).push_back(sha256({"one too many"}));
    return all;
}

}  // namespace

TEST_CASE("the tree answers the vectors of certificate-transparency")
{
    const std::vector<std::string> leafHex{"",
                                           "00",
                                           "10",
                                           "2021",
                                           "3031",
                                           "40414243",
                                           "5051525354555657",
                                           "606162636465666768696a6b6c6d6e6f"};
    const auto roots =
        fromHex({"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                 "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
                 "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
                 "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
                 "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
                 "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
                 "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
                 "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"});
    std::vector<std::string> leaves;
    for (const std::string& hex : leafHex) leaves.push_back(decodeHex(hex).value());
    NaiveTree naive{leaves};
    StoredNodes stored;
    Frontier frontier;

    CHECK(frontier.root().hex() ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        frontier.append(leafHash(leaves[i]), stored.sink());
        CHECK(frontier.size() == i + 1);
        CHECK(frontier.root() == roots[i]);
        CHECK(naive.mth(0, i + 1) == roots[i]);
    }

    struct Vector {
        std::uint64_t first, size;
        std::vector<Hash> proof;
    };
    const std::vector<Vector> inclusions{
        {0, 1, {}},
        {0, 8,
         fromHex({"96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                  "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                  "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"})},
        {5, 8,
         fromHex({"bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                  "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"})},
        {2, 3, fromHex({"fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"})},
        {1, 5,
         fromHex({"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                  "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                  "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"})}};
    for (const auto& [index, size, proof] : inclusions) {
        CAPTURE(index);
        CAPTURE(size);
        CHECK(inclusionProof(index, size, stored.source()).value() == proof);
        CHECK(verifyInclusion(index, size, leafHash(leaves[index]), proof, roots[size - 1]));
    }

    const std::vector<Vector> consistencies{
        {1, 1, {}},
        {1, 8,
         fromHex({"96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                  "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                  "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"})},
        {6, 8,
         fromHex({"0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                  "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"})},
        {2, 5,
         fromHex({"5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                  "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"})},
        {6, 7,
         fromHex({"0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                  "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f",
                  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"})}};
    for (const auto& [size1, size2, proof] : consistencies) {
        CAPTURE(size1);
        CAPTURE(size2);
        CHECK(consistencyProof(size1, size2, stored.source()).value() == proof);
        CHECK(verifyConsistency(size1, size2, roots[size1 - 1], roots[size2 - 1], proof));
    }
}

TEST_CASE("every inclusion proof up to 300 records holds, and no spoiled one does")
{
    constexpr std::uint64_t kSize = 300;
    auto random = seededRandom();
    const auto leaves = distinctLeaves(kSize);
    NaiveTree naive{leaves};
    StoredNodes stored;
    Frontier frontier;
    std::uint64_t refusedWrongly = 0;
    std::uint64_t acceptedWrongly = 0;
    std::uint64_t unlikeTheDefinition = 0;
    std::uint64_t fetchedTooMany = 0;
    for (std::uint64_t size = 1; size <= kSize; ++size) {
        frontier.append(leafHash(leaves[size - 1]), stored.sink());
        const Hash root = frontier.root();
        unlikeTheDefinition += root != naive.mth(0, size);
        for (std::uint64_t index = 0; index < size; ++index) {
            stored.asked = 0;
            const auto proof = inclusionProof(index, size, stored.source()).value();
            fetchedTooMany += stored.asked > 2U * static_cast<unsigned>(std::bit_width(size));
            const auto turns = NaiveTree::path(index, 0, size);
            unlikeTheDefinition += proof != naive.hashes(turns);

            const Hash leaf = leafHash(leaves[index]);
            const auto accepts = [&](std::uint64_t i, std::uint64_t n, const Hash& l,
                                     const std::vector<Hash>& p, const Hash& r) {
                return static_cast<bool>(verifyInclusion(i, n, l, p, r));
            };
            refusedWrongly += !accepts(index, size, leaf, proof, root);
            for (const auto& other : spoiled(proof, random))
                acceptedWrongly += accepts(index, size, leaf, other, root);
            acceptedWrongly += accepts(index, size, leaf, proof, flipped(root, random));
            acceptedWrongly += accepts(index, size, flipped(leaf, random), proof, root);
            for (const std::uint64_t other :
                 {index - 1, index + 1, index ^ 2, below(random, size), size, ~index})
                acceptedWrongly += other != index && accepts(other, size, leaf, proof, root);
            for (const std::uint64_t other :
                 {size - 1, size + 1, size * 2, size / 2, 1 + below(random, kSize)}) {
                const bool sameTurns = index < other && NaiveTree::path(index, 0, other) == turns;
                acceptedWrongly += !sameTurns && accepts(index, other, leaf, proof, root);
            }
        }
    }
    CHECK(refusedWrongly == 0);
    CHECK(acceptedWrongly == 0);
    CHECK(unlikeTheDefinition == 0);
    CHECK(fetchedTooMany == 0);
}

TEST_CASE("every consistency proof up to 300 records holds, and no spoiled one does")
{
    constexpr std::uint64_t kSize = 300;
    auto random = seededRandom();
    const auto leaves = distinctLeaves(kSize);
    NaiveTree naive{leaves};
    StoredNodes stored;
    Frontier frontier;
    std::vector<Hash> roots{frontier.root()};
    std::uint64_t refusedWrongly = 0;
    std::uint64_t acceptedWrongly = 0;
    std::uint64_t unlikeTheDefinition = 0;
    std::uint64_t fetchedTooMany = 0;
    for (std::uint64_t size2 = 1; size2 <= kSize; ++size2) {
        frontier.append(leafHash(leaves[size2 - 1]), stored.sink());
        roots.push_back(frontier.root());
        for (std::uint64_t size1 = 1; size1 <= size2; ++size1) {
            stored.asked = 0;
            const auto proof = consistencyProof(size1, size2, stored.source()).value();
            fetchedTooMany += stored.asked > 2U * static_cast<unsigned>(std::bit_width(size2));
            const auto turns = NaiveTree::subproof(size1, 0, size2, true);
            unlikeTheDefinition += proof != naive.hashes(turns);

            const Hash& root1 = roots[size1];
            const Hash& root2 = roots[size2];
            const auto accepts = [&](std::uint64_t m, std::uint64_t n, const Hash& r1,
                                     const Hash& r2, const std::vector<Hash>& p) {
                return static_cast<bool>(verifyConsistency(m, n, r1, r2, p));
            };
            refusedWrongly += !accepts(size1, size2, root1, root2, proof);
            for (const auto& other : spoiled(proof, random))
                acceptedWrongly += accepts(size1, size2, root1, root2, other);
            acceptedWrongly += accepts(size1, size2, flipped(root1, random), root2, proof);
            acceptedWrongly += accepts(size1, size2, root1, flipped(root2, random), proof);
            acceptedWrongly += size1 != size2 && accepts(size1, size2, root2, root1, proof);
            acceptedWrongly += size1 != size2 && accepts(size2, size1, root2, root1, proof);
            for (const std::uint64_t other :
                 {size1 - 1, size1 + 1, size1 ^ 2, 1 + below(random, size2)}) {
                const bool sameTurns = other > 0 && other <= size2 &&
                                       NaiveTree::subproof(other, 0, size2, true) == turns;
                acceptedWrongly += !sameTurns && accepts(other, size2, root1, root2, proof);
            }
            for (const std::uint64_t other :
                 {size2 - 1, size2 + 1, size2 * 2, size2 / 2, 1 + below(random, kSize)}) {
                const bool sameTurns =
                    size1 <= other && NaiveTree::subproof(size1, 0, other, true) == turns;
                acceptedWrongly += !sameTurns && accepts(size1, other, root1, root2, proof);
            }
        }
    }
    CHECK(refusedWrongly == 0);
    CHECK(acceptedWrongly == 0);
    CHECK(unlikeTheDefinition == 0);
    CHECK(fetchedTooMany == 0);
}

TEST_CASE("every tree extends the empty tree, whose root is known")
{
    const Hash some = sha256({"some"});
    StoredNodes none;
    CHECK(consistencyProof(0, 0, none.source()).value().empty());
    CHECK(consistencyProof(0, 9, none.source()).value().empty());
    CHECK(verifyConsistency(0, 0, emptyRoot(), emptyRoot(), {}));
    CHECK(verifyConsistency(0, 9, emptyRoot(), some, {}));
    CHECK_FALSE(verifyConsistency(0, 0, some, some, {}));
    CHECK_FALSE(verifyConsistency(0, 0, emptyRoot(), some, {}));
    CHECK_FALSE(verifyConsistency(0, 9, some, some, {}));
    CHECK_FALSE(verifyConsistency(0, 9, emptyRoot(), some, {&some, 1}));
    CHECK_FALSE(verifyConsistency(0, 0, emptyRoot(), emptyRoot(), {&some, 1}));
}

TEST_CASE("sizes and proofs that no tree has are refused")
{
    constexpr std::uint64_t kHuge = ~std::uint64_t{0};
    const Hash some = sha256({"some"});
    const std::vector<Hash> proof(200, some);
    StoredNodes none;
    for (const std::uint64_t size :
         {std::uint64_t{0}, std::uint64_t{1}, kMaxTreeSize, kMaxTreeSize + 1, kHuge - 1, kHuge})
        for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1}, kMaxTreeSize - 1,
                                          kMaxTreeSize, kMaxTreeSize + 1, kHuge})
            for (const std::size_t length : {0U, 1U, 62U, 63U, 64U, 65U, 200U}) {
                CAPTURE(size);
                CAPTURE(first);
                CAPTURE(length);
                const std::span<const Hash> hashes{proof.data(), length};
                const bool trivial = first == 0 && size == 1 && length == 0;
                CHECK(static_cast<bool>(verifyInclusion(first, size, some, hashes, some)) ==
                      trivial);
                const bool same = first == size && first > 0 && size <= kMaxTreeSize && length == 0;
                CHECK(static_cast<bool>(verifyConsistency(first, size, some, some, hashes)) ==
                      same);
            }
    for (const std::uint64_t size : {kMaxTreeSize + 1, kHuge}) {
        CHECK(verifyInclusion(0, size, some, proof, some)
                  .error()
                  .message.ends_with("exceeds 2^63 - 1"));
        CHECK(verifyConsistency(1, size, some, some, proof)
                  .error()
                  .message.ends_with("exceeds 2^63 - 1"));
        CHECK(inclusionProof(0, size, none.source()).error().message.ends_with("exceeds 2^63 - 1"));
    }
    CHECK_FALSE(inclusionProof(0, 0, none.source()));
    CHECK_FALSE(inclusionProof(5, 5, none.source()));
    CHECK_FALSE(inclusionProof(kHuge, kHuge, none.source()));
    CHECK_FALSE(consistencyProof(2, 1, none.source()));
    CHECK_FALSE(consistencyProof(1, kHuge, none.source()));
    CHECK(none.asked == 0);
}

TEST_CASE("a node that can't be had is the proof's error")
{
    StoredNodes none;
    CHECK(inclusionProof(0, 2, none.source()).error().message == "no such node");
    CHECK(consistencyProof(1, 2, none.source()).error().message == "no such node");
    CHECK(consistencyProof(3, 4, none.source()).error().message == "no such node");
    CHECK(none.asked == 3);
}

TEST_CASE("proofs hold in a tree of 2^63 - 1 records")
{
    // All records alike: one hash a level is the whole tree.
    auto random = seededRandom();
    const Hash leaf = leafHash("alike");
    std::vector<Hash> level{leaf};
    while (level.size() < 63) level.push_back(nodeHash(level.back(), level.back()));
    unsigned asked = 0;
    const NodeSource source = [&](unsigned height, std::uint64_t index) -> Result<Hash> {
        ++asked;
        if (height > 62 || index > kMaxTreeSize >> height) return Error{"beyond the tree"};
        return level[height];
    };
    const auto treeOf = [&](std::uint64_t size) {
        Frontier frontier;
        for (unsigned height = 63; height-- > 0;)
            if ((size >> height & 1) != 0) frontier.appendSubtree(height, level[height]);
        REQUIRE(frontier.size() == size);
        return frontier;
    };

    for (int round = 0; round < 300; ++round) {
        const std::uint64_t size2 =
            round == 0 ? kMaxTreeSize : 1 + below(random, kMaxTreeSize >> below(random, 63));
        const std::uint64_t size1 = round == 0 ? kMaxTreeSize - 1 : 1 + below(random, size2);
        const std::uint64_t index = round == 0 ? kMaxTreeSize - 1 : below(random, size2);
        const Hash root2 = treeOf(size2).root();
        asked = 0;
        const auto inclusion = inclusionProof(index, size2, source).value();
        CHECK(verifyInclusion(index, size2, leaf, inclusion, root2));
        const auto consistency = consistencyProof(size1, size2, source).value();
        CHECK(verifyConsistency(size1, size2, treeOf(size1).root(), root2, consistency));
        CHECK(asked <= 4 * 63);
    }

    Frontier full = treeOf(kMaxTreeSize);
    const Frontier before = full;
    CHECK_THROWS_AS(full.append(leaf), std::logic_error);
    CHECK(full == before);
}

TEST_CASE("a subtree is appended only where one begins")
{
    const Hash some = sha256({"some"});
    Frontier frontier;
    CHECK_THROWS_AS(frontier.appendSubtree(63, some), std::logic_error);
    CHECK_THROWS_AS(frontier.appendSubtree(64, some), std::logic_error);
    frontier.append(some);
    CHECK_THROWS_AS(frontier.appendSubtree(1, some), std::logic_error);
    frontier.append(some);
    frontier.appendSubtree(1, some);
    CHECK(frontier.size() == 4);
}

TEST_CASE("chunks hashed on two threads make the same tree as leaf after leaf")
{
    constexpr std::uint64_t kChunk = 64;
    std::vector<Hash> hashes;
    for (const std::string& leaf : distinctLeaves(1000)) hashes.push_back(leafHash(leaf));

    for (const std::uint64_t start : {0U, 1U, 63U, 64U, 100U, 500U}) {
        Frontier serial;
        for (const Hash& hash : hashes) serial.append(hash);

        Frontier parallel;
        std::uint64_t at = 0;
        for (; at < start || at % kChunk != 0; ++at) parallel.append(hashes[at]);
        const auto chunkRoot = [&](std::uint64_t begin) {
            Frontier chunk;
            for (std::uint64_t i = begin; i < begin + kChunk; ++i) chunk.append(hashes[i]);
            return chunk.root();
        };
        for (; at + 2 * kChunk <= hashes.size(); at += 2 * kChunk) {
            auto other = std::async(std::launch::async, chunkRoot, at + kChunk);
            parallel.appendSubtree(6, chunkRoot(at));
            parallel.appendSubtree(6, other.get());
        }
        for (; at < hashes.size(); ++at) parallel.append(hashes[at]);
        CHECK(parallel == serial);
        CHECK(parallel.root() == serial.root());
    }
}

TEST_CASE("a frontier restored from its text continues the tree")
{
    Frontier frontier;
    for (const std::string& leaf : distinctLeaves(300)) {
        auto restored = Frontier::parse(frontier.format());
        REQUIRE(restored);
        CHECK(*restored == frontier);
        frontier.append(leafHash(leaf));
        CHECK_FALSE(*restored == frontier);
        restored->append(leafHash(leaf));
        CHECK(*restored == frontier);
        CHECK(restored->root() == frontier.root());
    }
}

TEST_CASE("a malformed frontier is refused")
{
    const std::string hash = sha256({"some"}).base64() + "\n";
    REQUIRE(Frontier::parse("0\n"));
    REQUIRE(Frontier::parse("3\n" + hash + hash));
    for (const std::string& text : std::vector<std::string>{
             "", "0", "\n" + hash, "0\n" + hash, "1\n" + hash + hash, "1\n", "01\n" + hash,
             "3\n" + hash, "2\n" + hash + "\n", "2\n\n" + hash, "-1\n" + hash,
             "9223372036854775808\n" + hash, "1\n" + hash.substr(0, hash.size() - 1),
             "1\n" + hash.substr(4), "1\nAAAA\n", "1\r\n" + hash}) {
        CAPTURE(text);
        const auto frontier = Frontier::parse(text);
        REQUIRE_FALSE(frontier);
        CHECK(frontier.error().message.starts_with("frontier"));
    }
}

TEST_CASE("whatever frontier is accepted formats back to the same text")
{
    auto random = seededRandom();
    Frontier frontier;
    for (const std::string& leaf : distinctLeaves(7)) frontier.append(leafHash(leaf));
    int wrong = 0;
    for (int i = 0; i < 100'000; ++i) {
        const std::string text = mutated(frontier.format(), random);
        if (const auto parsed = Frontier::parse(text); parsed && parsed->format() != text) ++wrong;
    }
    CHECK(wrong == 0);
}

}  // namespace jackpot::storage
