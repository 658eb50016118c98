#include "storage/proof.h"

#include "base/encoding.h"
#include "storage/merkle.h"

namespace jackpot::storage {
namespace {

constexpr std::string_view kHeader = "c2sp.org/tlog-proof@v1";
constexpr std::string_view kExtra = "extra ";
constexpr std::string_view kIndex = "index ";
constexpr std::size_t kMaxHashes = 63;  // the height of a tree of kMaxTreeSize

Result<Proof> parseUnprefixed(std::string_view text)
{
    if (text.size() > kMaxProofBytes)
        return Error{"larger than " + std::to_string(kMaxProofBytes) + " bytes"};
    auto line = takeLine(text);
    if (!line) return line.error();
    if (*line != kHeader) return Error{"its first line is not " + std::string{kHeader}};

    Proof proof;
    line = takeLine(text);
    if (line && line->starts_with(kExtra)) {
        auto extra = decodeBase64(line->substr(kExtra.size()));
        if (!extra) return Error{"extra data: " + extra.error().message};
        if (extra->empty()) return Error{"an extra line without data"};
        proof.extra = *std::move(extra);
        line = takeLine(text);
    }
    if (!line) return line.error();
    if (!line->starts_with(kIndex)) return Error{"no index line"};
    const auto index = parseDecimal(line->substr(kIndex.size()));
    if (!index) return Error{"index: " + index.error().message};
    proof.index = *index;

    for (line = takeLine(text); line && !line->empty(); line = takeLine(text)) {
        const auto hash = Hash::fromBase64(*line);
        if (!hash) return Error{"hash: " + hash.error().message};
        if (proof.hashes.size() == kMaxHashes) return Error{"more hashes than any tree needs"};
        proof.hashes.push_back(*hash);
    }
    if (!line) return line.error();

    auto note = Note::parse(text);
    if (!note) return note.error();
    if (const auto checkpoint = Checkpoint::parse(note->text); !checkpoint)
        return checkpoint.error();
    proof.checkpoint = *std::move(note);
    return proof;
}

}  // namespace

Result<Proof> Proof::parse(std::string_view text)
{
    auto proof = parseUnprefixed(text);
    if (!proof) return Error{"proof: " + proof.error().message};
    return proof;
}

Result<std::string> Proof::format() const
{
    const auto note = checkpoint.format();
    if (!note) return note.error();
    std::string text = std::string{kHeader} + '\n';
    if (!extra.empty()) text += std::string{kExtra} + encodeBase64(extra) + '\n';
    text += std::string{kIndex} + std::to_string(index) + '\n';
    for (const Hash& hash : hashes) text += hash.base64() + '\n';
    text += '\n' + *note;
    if (const auto again = parse(text); !again) return again.error();
    return text;
}

Result<Checkpoint> checkProof(std::string_view record, const Proof& proof, const Verifier& verifier)
{
    auto checkpoint = openCheckpoint(proof.checkpoint, verifier);
    if (!checkpoint) return checkpoint;
    const auto included = verifyInclusion(proof.index, checkpoint->size, leafHash(record),
                                          proof.hashes, checkpoint->root);
    if (!included) return included.error();
    return checkpoint;
}

}  // namespace jackpot::storage
