#include "storage/proof.h"

#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "base/encoding.h"
#include "storage/merkle.h"
#include "tests/support/random.h"

namespace jackpot::storage {
namespace {

// A journal of a few records under one signed checkpoint.
struct Journal {
    static constexpr std::uint64_t kSize = 21;

    Signer signer = Signer::make("jackpot.example", PrivateKey::generate()).value();
    Frontier frontier;
    std::map<std::pair<unsigned, std::uint64_t>, Hash> nodes;

    Journal()
    {
        for (std::uint64_t i = 0; i < kSize; ++i)
            frontier.append(leafHash(record(i)),
                            [this](unsigned level, std::uint64_t index, const Hash& root) {
                                nodes[{level, index}] = root;
                            });
    }

    static std::string record(std::uint64_t index)
    {
        return "{\"seq\":" + std::to_string(index) + "}";
    }

    Proof prove(std::uint64_t index)
    {
        const auto source = [this](unsigned level, std::uint64_t i) -> Result<Hash> {
            return nodes.at({level, i});
        };
        const Checkpoint checkpoint{"jackpot.example", kSize, frontier.root(), {}};
        return {.index = index,
                .hashes = inclusionProof(index, kSize, source).value(),
                .checkpoint = Note::parse(signCheckpoint(checkpoint, signer).value()).value(),
                .extra = {}};
    }
};

const std::string kHash = "gSKyXoYZUgZ6jduWYrkDOARinOMGJveXjgMkBTcdPlQ=";
const std::string kNote =
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
    "\u2014 example.com/behind-the-sofa "
    "Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/"
    "Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n";

}  // namespace

TEST_CASE("each record is proved alone, by text and key")
{
    Journal journal;
    for (std::uint64_t index = 0; index < Journal::kSize; ++index) {
        const Proof made = journal.prove(index);
        const auto text = made.format();
        REQUIRE(text);
        CHECK(text->starts_with("c2sp.org/tlog-proof@v1\nindex " + std::to_string(index) + "\n"));
        const Proof read = Proof::parse(*text).value();
        CHECK(read == made);

        const auto verifier = Verifier::parse(journal.signer.verifier().format()).value();
        const auto checked = checkProof(Journal::record(index), read, verifier);
        REQUIRE(checked);
        CHECK(checked->size == Journal::kSize);
        CHECK(checked->root == journal.frontier.root());
    }
}

TEST_CASE("a proof of anything else fails")
{
    Journal journal;
    const Verifier& verifier = journal.signer.verifier();
    const Proof good = journal.prove(5);
    const std::string record = Journal::record(5);
    REQUIRE(checkProof(record, good, verifier));

    CHECK_FALSE(checkProof(record + " ", good, verifier));
    CHECK_FALSE(checkProof(Journal::record(4), good, verifier));
    CHECK_FALSE(checkProof("", good, verifier));
    CHECK_FALSE(checkProof(record, good, Journal{}.signer.verifier()));

    Proof bad = good;
    bad.index = 4;
    CHECK_FALSE(checkProof(record, bad, verifier));
    bad.index = ~std::uint64_t{0};
    CHECK_FALSE(checkProof(record, bad, verifier));
    bad = good;
    bad.hashes.pop_back();
    CHECK_FALSE(checkProof(record, bad, verifier));
    bad = good;
    bad.hashes[1].bytes[0] ^= 1;
    CHECK_FALSE(checkProof(record, bad, verifier));
    bad = good;
    bad.checkpoint.signatures[0].bytes[0] ^= 1;
    CHECK_FALSE(checkProof(record, bad, verifier));
    bad = good;
    bad.checkpoint.signatures.clear();
    CHECK_FALSE(checkProof(record, bad, verifier));

    Signer other = Signer::make("jackpot.example/other", PrivateKey::generate()).value();
    bad = good;
    bad.checkpoint.sign(other);
    CHECK(checkProof(record, bad, verifier));
    CHECK_FALSE(checkProof(record, bad, other.verifier()));
}

TEST_CASE("extra data is carried, and is not part of what is proved")
{
    Journal journal;
    Proof proof = journal.prove(3);
    proof.extra = std::string{"\0\xFF\n", 3};
    const auto text = proof.format();
    REQUIRE(text);
    CHECK(text->starts_with("c2sp.org/tlog-proof@v1\nextra AP8K\nindex 3\n"));
    CHECK(Proof::parse(*text).value() == proof);
    CHECK(checkProof(Journal::record(3), proof, journal.signer.verifier()));
}

TEST_CASE("malformed proofs are refused")
{
    const std::string header = "c2sp.org/tlog-proof@v1\n";
    const std::string hash = kHash + "\n";
    std::string tall;
    for (int i = 0; i < 63; ++i) tall += hash;
    REQUIRE(Proof::parse(header + "index 0\n\n" + kNote));
    REQUIRE(Proof::parse(header + "index 7\n" + hash + hash + "\n" + kNote));
    REQUIRE(Proof::parse(header + "extra AAAA\nindex 7\n" + hash + "\n" + kNote));
    REQUIRE(Proof::parse(header + "index 9223372036854775807\n" + tall + "\n" + kNote));

    for (const std::string& text : std::vector<std::string>{
             "",
             "\n",
             header,
             "c2sp.org/tlog-proof@v1",
             "c2sp.org/tlog-proof@v2\nindex 0\n\n" + kNote,
             "c2sp.org/tlog-proof@v1 \nindex 0\n\n" + kNote,
             "c2sp.org/tlog-proof@v1\r\nindex 0\n\n" + kNote,
             " " + header + "index 0\n\n" + kNote,
             header + "\nindex 0\n\n" + kNote,
             header + kNote,
             header + "\n" + kNote,
             header + hash + "\n" + kNote,
             header + "index\n\n" + kNote,
             header + "index \n\n" + kNote,
             header + "index 00\n\n" + kNote,
             header + "index 01\n\n" + kNote,
             header + "index +1\n\n" + kNote,
             header + "index -1\n\n" + kNote,
             header + "index  1\n\n" + kNote,
             header + "index 1 \n\n" + kNote,
             header + "index\t1\n\n" + kNote,
             header + "Index 1\n\n" + kNote,
             header + "index 9223372036854775808\n\n" + kNote,
             header + "index 0\nindex 0\n\n" + kNote,
             header + "index 0\nextra AAAA\n\n" + kNote,
             header + "extra \nindex 0\n\n" + kNote,
             header + "extra\nindex 0\n\n" + kNote,
             header + "extra AAA\nindex 0\n\n" + kNote,
             header + "extra AAB=\nindex 0\n\n" + kNote,
             header + "extra AAAA\nextra AAAA\nindex 0\n\n" + kNote,
             header + "extra AAAA\n",
             header + "extra AAAA\n\n" + kNote,
             header + "index 0\n" + kNote,
             header + "index 0\n\n\n" + kNote,
             header + "index 0\nAAAA\n\n" + kNote,
             header + "index 0\n" + kHash.substr(0, 43) + "\n\n" + kNote,
             header + "index 0\n" + kHash + " \n\n" + kNote,
             header + "index 0\n" + kHash.substr(0, 42) + "R=\n\n" + kNote,
             header + "index 0\n" + tall + hash + "\n" + kNote,
             header + "index 0\n" + hash,
             header + "index 0\n" + kHash,
             header + "index 0\n" + hash + "\n",
             header + "index 0\n\n" + kNote.substr(0, kNote.size() - 1),
             header + "index 0\n\n" + kNote + "\n",
             header + "index 0\n\nno checkpoint\n" + kNote.substr(kNote.find("\n\n") + 1),
             header + "extra " + std::string(kMaxProofBytes, 'A') + "\nindex 0\n\n" + kNote}) {
        CAPTURE(text.substr(0, 500));
        const auto proof = Proof::parse(text);
        REQUIRE_FALSE(proof);
        CHECK(proof.error().message.starts_with("proof: "));
    }
}

TEST_CASE("a proof that would not read back is not written")
{
    Journal journal;
    Proof proof = journal.prove(3);
    proof.index = kMaxTreeSize + 1;
    CHECK_FALSE(proof.format());
    proof = journal.prove(3);
    proof.hashes.resize(64);
    CHECK_FALSE(proof.format());
    proof = journal.prove(3);
    proof.checkpoint.text = "no checkpoint\n";
    CHECK_FALSE(proof.format());
    proof = journal.prove(3);
    proof.checkpoint.signatures.clear();
    CHECK_FALSE(proof.format());
    proof = journal.prove(3);
    proof.extra = std::string(kMaxProofBytes, 'x');
    CHECK_FALSE(proof.format());
}

TEST_CASE(
    "whatever proof is accepted formats back to the same text, and proves only its record's place")
{
    auto random = seededRandom();
    Journal journal;
    Proof good = journal.prove(5);
    good.extra = "extra";
    const std::string text = good.format().value();
    int wrong = 0;
    for (int i = 0; i < 100'000; ++i) {
        const std::string other = mutated(text, random);
        const auto parsed = Proof::parse(other);
        if (!parsed) continue;
        if (parsed->format().value() != other) ++wrong;
        if (i % 10 != 0 || !checkProof(Journal::record(5), *parsed, journal.signer.verifier()))
            continue;
        if (parsed->index != 5 || parsed->hashes != good.hashes ||
            parsed->checkpoint.text != good.checkpoint.text)
            ++wrong;
    }
    CHECK(wrong == 0);
}

}  // namespace jackpot::storage
