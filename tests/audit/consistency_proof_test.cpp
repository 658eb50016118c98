// Requests to a witness: their form, and the proofs from a journal of several files.
#include <doctest/doctest.h>

#include <map>

#include "audit/proof_builder.h"
#include "storage/add_checkpoint.h"
#include "storage/journal.h"
#include "tests/support/scratch.h"

namespace jackpot {
namespace {

using storage::AddCheckpoint;
using storage::Journal;

// A checkpoint for nearly every size up to 700, segments that end within a block of 256 records and
// at its end.
struct Grown {
    ScratchDirectory scratch;
    std::map<std::uint64_t, storage::Receipt> receipts;

    Grown()
    {
        auto signer = storage::Signer::make("test", storage::PrivateKey::generate());
        auto journal = Journal::create({scratch.path(), 50'000, {}}, std::move(*signer), 1);
        REQUIRE(journal);
        const auto keep = [&] { receipts.emplace(journal->size(), journal->lastReceipt()); };
        keep();
        while (journal->size() < 700) {
            if (journal->size() == 100 || journal->size() == 512)
                REQUIRE(journal->closeSegment(1));
            else
                journal->heartbeat(1);
            REQUIRE(journal->commit());
            keep();
        }
    }
};

}  // namespace

TEST_CASE("growth is proved from every size, and no other root passes")
{
    const Grown grown;
    audit::JournalView journal{{grown.scratch.path()}};
    CHECK(journal.files().size() == 3);
    audit::ProofBuilder tree{journal};
    const auto& last = grown.receipts.at(journal.end());
    std::size_t proved = 0;
    for (const auto& [size, receipt] : grown.receipts) {
        CAPTURE(size);
        const auto proof = tree.consistency(size);
        CHECK(verifyConsistency(size, last.size, receipt.root, last.root, proof));
        if (size == last.size) continue;
        CHECK_FALSE(verifyConsistency(size, last.size, last.root, last.root, proof));
        CHECK_FALSE(verifyConsistency(size, last.size, receipt.root, receipt.root, proof));
        ++proved;
    }
    CHECK(proved > 690);
    CHECK_THROWS_AS(tree.consistency(journal.end() + 1), audit::AuditError);
}

TEST_CASE(
    "without the earlier files, sizes within the last file are proved and others are an error")
{
    const Grown grown;
    audit::JournalView journal{{storage::filesOf(grown.scratch.path()).back()}};
    audit::ProofBuilder tree{journal};
    const auto& last = grown.receipts.at(journal.end());
    for (const auto& [size, receipt] : grown.receipts) {
        CAPTURE(size);
        if (size < journal.first()) {
            CHECK_THROWS_AS(tree.consistency(size), audit::AuditError);
            continue;
        }
        CHECK(verifyConsistency(size, last.size, receipt.root, last.root, tree.consistency(size)));
    }
}

TEST_CASE("a request to a witness parses to the request that was formatted")
{
    const Grown grown;
    audit::JournalView journal{{grown.scratch.path()}};
    audit::ProofBuilder tree{journal};
    for (const std::uint64_t old : {0U, 1U, 255U, 300U, 700U}) {
        const AddCheckpoint asked{old,
                                  old == 0 ? std::vector<storage::Hash>{} : tree.consistency(old),
                                  journal.noteText()};
        const auto read = AddCheckpoint::parse(asked.format());
        REQUIRE(read);
        CHECK(read->old == asked.old);
        CHECK(read->proof == asked.proof);
        CHECK(read->note == asked.note);
        // A request with any byte removed or changed is refused, or its signature is wrong.
        const std::string text = asked.format();
        for (std::size_t i = 0; i < text.size(); ++i) {
            CHECK_FALSE(AddCheckpoint::parse(text.substr(0, i)));
            std::string other = text;
            other[i] = static_cast<char>(other[i] ^ 1);
            const auto changed = AddCheckpoint::parse(other);
            if (changed)
                CHECK((changed->old != asked.old || changed->proof != asked.proof ||
                       changed->note != asked.note));
        }
    }
    AddCheckpoint large{1, std::vector<storage::Hash>(63), journal.noteText()};
    CHECK(AddCheckpoint::parse(large.format()));
    large.proof.emplace_back();
    CHECK_FALSE(AddCheckpoint::parse(large.format()));
}

}  // namespace jackpot
