// One journal record: the payload that is hashed, signed and stored, byte for byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/commands.h"
#include "rules/outcome.h"
#include "rules/state.h"
#include "storage/json_text.h"

namespace jackpot::storage {

inline constexpr int kFormatVersion = 2;

// The largest is a site's configuration. A record holds its command and what came of it.
inline constexpr std::size_t kMaxCommandBytes = 4U << 20U;
inline constexpr std::size_t kMaxRecordBytes = 64U << 20U;

struct RecordHead {
    std::uint64_t seq = 0;  // the leaf's index in the tree, from 0
    rules::TimeMs timeMs = 0;
    std::string kind;
};

// Of a command that came over the link: the table's number for it, and what its own clock said.
struct LinkOrigin {
    std::uint64_t number = 0;
    std::int64_t clockMs = 0;
    bool operator==(const LinkOrigin&) const = default;
};

// The payload of a command's record is written in two parts, before and after the command is
// carried out. The same arguments give the same bytes: an auditor recomputes them.
//
// False where the command holds bytes that are not UTF-8. They are then replaced in what was
// written, and the command that decodes from it is the one to carry out.
bool beginCommandRecord(std::string& out, std::uint64_t seq, rules::TimeMs timeMs,
                        const rules::Command& command,
                        const std::optional<LinkOrigin>& from = std::nullopt);
// `after` is the state that the command led to.
void finishCommandRecord(std::string& out, const rules::Outcome& outcome,
                         const rules::State& after);

// The payload of a record that holds no command: seq, time, kind and what `fields` writes.
template <class Fields>
std::string writePlainRecord(std::uint64_t seq, rules::TimeMs timeMs, std::string_view kind,
                             Fields&& fields)
{
    std::string out;
    JsonText json{out};
    json.beginObject();
    json.numberField("seq", static_cast<std::int64_t>(seq));
    json.numberField("time", timeMs);
    json.textField("kind", kind);
    fields(json);
    json.endObject();
    return out;
}

struct KeyRotation {
    std::string from;  // verifier keys
    std::string to;
    bool lost = false;
    std::vector<std::string> by;
};

void writeRotation(JsonText& json, const KeyRotation& rotation);

struct Record {
    RecordHead head;
    std::optional<LinkOrigin> from;         // of a command that came over the link
    std::optional<rules::Command> command;  // none where the kind is no command of the rules
    // The number of bytes of the payload up to the end of the command; readOutcome() reads the
    // rest.
    std::size_t commandEnd = 0;
    // commandEnd if these bytes are known to be what beginCommandRecord() writes, else 0.
    std::size_t asWritten = 0;
    std::string key;                      // of journal_opened and segment_opened
    std::string stateHash;                // of snapshot and segment_opened
    std::optional<KeyRotation> rotation;  // of key_rotated
};

// Strict in the form of seq, time, kind and command. Does not read the outcome. An error is the
// reason only; the caller names the record.
Result<Record> readRecord(std::string_view payload);
// Reads into a record whose memory is used again; after an error its contents mean nothing.
Result<void> readRecord(std::string_view payload, Record& into);

}  // namespace jackpot::storage
