#include "storage/add_checkpoint.h"

#include "base/encoding.h"

namespace jackpot::storage {
namespace {

constexpr std::string_view kOld = "old ";

}  // namespace

Result<AddCheckpoint> AddCheckpoint::parse(std::string_view text)
{
    AddCheckpoint asked;
    auto line = takeLine(text);
    if (!line || !line->starts_with(kOld)) return Error{"the first line is not \"old SIZE\""};
    const auto old = parseDecimal(line->substr(kOld.size()));
    if (!old) return Error{"the old size: " + old.error().message};
    asked.old = *old;
    while ((line = takeLine(text)) && !line->empty()) {
        if (asked.proof.size() >= kMaxHashes) return Error{"the proof has more than 63 hashes"};
        const auto hash = Hash::fromBase64(*line);
        if (!hash) return Error{"a line of the proof is not a hash in base64"};
        asked.proof.push_back(*hash);
    }
    if (!line) return Error{"there is no blank line after the proof"};
    const auto note = Note::parse(text);
    if (!note) return Error{"the checkpoint: " + note.error().message};
    asked.note = text;
    return asked;
}

std::string AddCheckpoint::format() const
{
    std::string text = std::string{kOld} + std::to_string(old) + "\n";
    for (const Hash& hash : proof) text += hash.base64() + "\n";
    return text + "\n" + note;
}

}  // namespace jackpot::storage
