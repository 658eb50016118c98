// Exports: selected records of a journal, each with its inclusion proof, and the signed checkpoint
// that they lead to. docs/auditing.md describes both forms; each has exactly one way to be written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit/record.h"
#include "storage/keys.h"
#include "storage/note.h"

namespace jackpot::auditor {

inline constexpr int kExportVersion = 1;
inline constexpr std::string_view kCsvColumns =
    "seq,utc,kind,table,pool,round,refused,payload,proof\r\n";
// The first bytes of an export; no other file begins so.
inline constexpr std::string_view kJsonlBegin = "{\"jackpot_audit_export\":";

enum class ExportForm : std::uint8_t { Jsonl, Csv };

struct ExportHeader {
    std::string note;
    std::vector<std::string> keys;  // that signed it: "name+1a2b3c4d"
    audit::Selection selection;
    std::uint64_t first = 0;    // of the files that were given; no record before it was looked at
    std::uint64_t records = 0;  // in the export
};

// Everything before the first record's row.
std::string exportBegin(ExportForm form, const ExportHeader& header);
// The header in an export's object; an AuditError if it is not
// written exactly as exportBegin() writes it.
ExportHeader readHeader(std::string_view text);

// Appends a record's row. `record` is the parsed `payload`; `proof` is in base64.
void appendRow(ExportForm form, std::string& out, const audit::Payload& record,
               std::string_view payload, std::span<const std::string> proof);

// What an export shows and what it does not, for people.
std::vector<std::string> exportClaims(const ExportHeader& header, std::uint64_t treeSize);

// The form of an export, by its first bytes; nothing where the file is none.
std::optional<ExportForm> exportFormOf(std::string_view beginning);

struct CheckedExport {
    ExportHeader header;
    storage::Checkpoint checkpoint;
    std::optional<std::uint64_t> firstSeq;
    std::uint64_t lastSeq = 0;
    rules::TimeMs firstMs = 0;
    rules::TimeMs lastMs = 0;
};

// Reads an export back: the checkpoint's signature by one of the keys, every proof, every derived
// column, the order. A fault is an AuditError that names the line.
CheckedExport checkExport(const std::filesystem::path& file, ExportForm form,
                          const std::vector<storage::Verifier>& keys);

}  // namespace jackpot::auditor
