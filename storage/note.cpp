#include "storage/note.h"

#include <algorithm>

#include "base/encoding.h"
#include "base/utf8.h"

namespace jackpot::storage {
namespace {

constexpr std::string_view kSignaturePrefix = "\u2014 ";
constexpr std::size_t kKeyIdBytes = 4;

Result<void> checkCharacters(std::string_view text)
{
    while (!text.empty()) {
        // Nearly all of it is plain ASCII.
        if (text[0] >= ' ' || text[0] == '\n') {
            text.remove_prefix(1);
            continue;
        }
        const auto c = takeCodePoint(text);
        if (!c) return Error{"not UTF-8"};
        if (*c < 0x20 && *c != '\n') return Error{"a control character"};
    }
    return {};
}

Result<NoteSignature> parseSignature(std::string_view line)
{
    if (!line.starts_with(kSignaturePrefix))
        return Error{"a signature line that does not begin with a dash and space"};
    line.remove_prefix(kSignaturePrefix.size());
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return Error{"a signature line without a signature"};

    const std::string_view name = line.substr(0, space);
    if (const auto fine = checkKeyName(name); !fine) return fine.error();
    const auto decoded = decodeBase64(line.substr(space + 1));
    if (!decoded) return Error{"a signature: " + decoded.error().message};
    if (decoded->size() <= kKeyIdBytes)
        return Error{"a signature too short for key id and signature"};
    return NoteSignature{std::string{name}, keyIdOf(*decoded), decoded->substr(kKeyIdBytes)};
}

Result<Note> parseUnprefixed(std::string_view bytes)
{
    if (bytes.size() > kMaxNoteBytes)
        return Error{"larger than " + std::to_string(kMaxNoteBytes) + " bytes"};
    if (const auto fine = checkCharacters(bytes); !fine) return fine.error();
    const std::size_t blank = bytes.rfind("\n\n");
    if (blank == std::string_view::npos) return Error{"no blank line before the signatures"};

    Note note{.text = std::string{bytes.substr(0, blank + 1)}, .signatures = {}};
    std::string_view rest = bytes.substr(blank + 2);
    do {
        const auto line = takeLine(rest);
        if (!line) return line.error();
        auto signature = parseSignature(*line);
        if (!signature) return signature.error();
        if (note.signatures.size() == kMaxNoteSignatures)
            return Error{"more than " + std::to_string(kMaxNoteSignatures) + " signatures"};
        note.signatures.push_back(*std::move(signature));
    } while (!rest.empty());
    return note;
}

}  // namespace

Result<Note> Note::parse(std::string_view bytes)
{
    auto note = parseUnprefixed(bytes);
    if (!note) return Error{"note: " + note.error().message};
    return note;
}

Result<std::string> Note::format() const
{
    std::string bytes = text + '\n';
    for (const NoteSignature& signature : signatures) {
        bytes += kSignaturePrefix;
        bytes += signature.keyName + ' ' +
                 encodeBase64(keyIdBytes(signature.keyId) + signature.bytes) + '\n';
    }
    const auto again = parse(bytes);
    if (!again) return again.error();
    if (*again != *this) return Error{"note: a key name that breaks its line"};
    return bytes;
}

void Note::sign(Signer& signer)
{
    std::erase_if(signatures, [&](const NoteSignature& signature) {
        return signature.keyName == signer.name() && signature.keyId == signer.keyId();
    });
    signatures.push_back({signer.name(), signer.keyId(), signer.sign(text)});
}

Result<void> Note::verify(const Verifier& verifier) const
{
    const std::string key = verifier.name() + '+' + encodeHex(keyIdBytes(verifier.keyId()));
    bool verified = false;
    for (const NoteSignature& signature : signatures) {
        if (signature.keyName != verifier.name() || signature.keyId != verifier.keyId()) continue;
        if (!verifier.verify(text, signature.bytes))
            return Error{"note: the signature by " + key + " is wrong"};
        verified = true;
    }
    if (!verified) return Error{"note: not signed by " + key};
    return {};
}

Result<Checkpoint> Checkpoint::parse(std::string_view text)
{
    if (const auto fine = checkCharacters(text); !fine)
        return Error{"checkpoint: " + fine.error().message};
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto line = takeLine(text);
        if (!line) return Error{"checkpoint: " + line.error().message};
        if (line->empty()) return Error{"checkpoint: an empty line"};
        lines.push_back(*line);
    }
    if (lines.size() < 3) return Error{"checkpoint: fewer than three lines"};

    const auto size = parseDecimal(lines[1]);
    if (!size) return Error{"checkpoint size: " + size.error().message};
    const auto root = Hash::fromBase64(lines[2]);
    if (!root) return Error{"checkpoint root: " + root.error().message};
    return Checkpoint{std::string{lines[0]}, *size, *root, {lines.begin() + 3, lines.end()}};
}

Result<std::string> Checkpoint::format() const
{
    std::string text = origin + '\n' + std::to_string(size) + '\n' + root.base64() + '\n';
    for (const std::string& extension : extensions) text += extension + '\n';
    const auto again = parse(text);
    if (!again) return again.error();
    if (*again != *this) return Error{"checkpoint: a line break within a line"};
    return text;
}

Result<std::string> signCheckpoint(const Checkpoint& checkpoint, Signer& signer)
{
    auto text = checkpoint.format();
    if (!text) return text;
    Note note{.text = *std::move(text), .signatures = {}};
    note.sign(signer);
    return note.format();
}

Result<Checkpoint> readCheckpoint(std::string_view note)
{
    const auto parsed = Note::parse(note);
    if (!parsed) return parsed.error();
    return Checkpoint::parse(parsed->text);
}

Result<Checkpoint> openCheckpoint(const Note& note, const Verifier& verifier)
{
    if (const auto signedByKey = note.verify(verifier); !signedByKey) return signedByKey.error();
    auto checkpoint = Checkpoint::parse(note.text);
    if (checkpoint && checkpoint->origin != verifier.name())
        return Error{"checkpoint: of " + checkpoint->origin + ", signed as " + verifier.name()};
    return checkpoint;
}

}  // namespace jackpot::storage
