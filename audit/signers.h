// The signers of a checkpoint, for people.
#pragma once

#include <string>
#include <vector>

#include "audit/journal_view.h"
#include "storage/keys.h"
#include "storage/note.h"

namespace jackpot::audit {

// The first of the keys that a signature of the note names; nullptr if none is.
const storage::Verifier* signerAmong(const std::vector<storage::Verifier>& keys,
                                     const storage::Note& note);
// Why a note that none of these keys has signed proves nothing to their holder, and what to do.
std::string notSignedBy(const std::vector<storage::Verifier>& keys, const storage::Note& note);
// Throws an AuditError unless one of the keys has signed the journal's last checkpoint. Without
// keys nothing is checked.
void requireSignedBy(const JournalView& journal, const std::vector<storage::Verifier>& keys);
// "name+1a2b3c4d" for each signature.
std::vector<std::string> signersOf(const storage::Note& note);

}  // namespace jackpot::audit
