#include "audit/signers.h"

#include <algorithm>

#include "base/encoding.h"

namespace jackpot::audit {

using storage::Verifier;

const Verifier* signerAmong(const std::vector<Verifier>& keys, const storage::Note& note)
{
    for (const Verifier& key : keys)
        for (const storage::NoteSignature& signature : note.signatures)
            if (signature.keyName == key.name() && signature.keyId == key.keyId()) return &key;
    return nullptr;
}

std::string notSignedBy(const std::vector<Verifier>& keys, const storage::Note& note)
{
    const std::string what =
        "it is signed by " + signersOf(note).front() + ", which is not a key that you gave";
    const bool sameName = std::ranges::any_of(
        keys, [&](const Verifier& key) { return key.name() == note.signatures.front().keyName; });
    // All keys of a journal have one name.
    if (!sameName) return what + ": it is of another journal than your key";
    return what +
           ": either the journal's key was changed, or it is forged. Verify the journal itself, "
           "with all its archive segments, with the key that you hold: it names the key that took "
           "over. Then run this again with --key and that key";
}

void requireSignedBy(const JournalView& journal, const std::vector<Verifier>& keys)
{
    if (keys.empty()) return;
    const Verifier* key = signerAmong(keys, journal.note());
    if (key == nullptr)
        throw AuditError{DoesNotVerify,
                         "the last checkpoint: " + notSignedBy(keys, journal.note())};
    if (const auto opened = openCheckpoint(journal.note(), *key); !opened)
        throw AuditError{DoesNotVerify, "the last checkpoint: " + opened.error().message};
}

std::vector<std::string> signersOf(const storage::Note& note)
{
    std::vector<std::string> names;
    for (const storage::NoteSignature& each : note.signatures)
        names.push_back(each.keyName + "+" + encodeHex(storage::keyIdBytes(each.keyId)));
    return names;
}

}  // namespace jackpot::audit
