// Signed notes and log checkpoints as C2SP signed-note and tlog-checkpoint write them.
// Values; parsing accepts any bytes. What parses formats back to the same bytes, and only what
// would parse again is formatted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/keys.h"
#include "storage/sha256.h"

namespace jackpot::storage {

// signed-note wants at least 16 signatures accepted, of up to nearly 5 kB each.
inline constexpr std::size_t kMaxNoteBytes = std::size_t{128} * 1024;
inline constexpr std::size_t kMaxNoteSignatures = 100;

struct NoteSignature {
    std::string keyName;
    std::uint32_t keyId = 0;
    std::string bytes;  // of any algorithm, without the key id; never empty

    bool operator==(const NoteSignature&) const = default;
};

struct Note {
    std::string text;  // ends with its newline
    std::vector<NoteSignature> signatures;

    // Checks the form alone. Nothing in the text may be believed before verify().
    static Result<Note> parse(std::string_view bytes);
    Result<std::string> format() const;

    // Replaces an earlier signature by the same key.
    void sign(Signer& signer);

    // This key has signed the text. Signatures by other keys are ignored; one by this key that is
    // wrong fails the note, whatever else it carries.
    Result<void> verify(const Verifier& verifier) const;

    bool operator==(const Note&) const = default;
};

struct Checkpoint {
    std::string origin;
    std::uint64_t size = 0;
    Hash root;
    std::vector<std::string> extensions;  // lines without their newlines; not empty

    // The text of a note.
    static Result<Checkpoint> parse(std::string_view text);
    Result<std::string> format() const;

    bool operator==(const Checkpoint&) const = default;
};

// The note with this checkpoint, signed. An error: the checkpoint can't be written.
Result<std::string> signCheckpoint(const Checkpoint& checkpoint, Signer& signer);

// The checkpoint in a note. Signatures are not checked.
Result<Checkpoint> readCheckpoint(std::string_view note);

// The checkpoint in a note that this key has signed. Its origin must be the key's name.
Result<Checkpoint> openCheckpoint(const Note& note, const Verifier& verifier);

}  // namespace jackpot::storage
