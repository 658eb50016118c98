#include "tools/jackpot-audit/export.h"

#include <memory>

#include "audit/journal_view.h"
#include "audit/proof_builder.h"
#include "audit/signers.h"
#include "storage/json_text.h"
#include "tools/cli/command_error.h"
#include "tools/cli/interrupts.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/cli/verifier_keys.h"
#include "tools/jackpot-audit/commands.h"
#include "tools/jackpot-audit/period_options.h"

namespace jackpot::auditor {

using namespace audit;

namespace {

using storage::JsonText;

void writeSelection(JsonText& json, const Selection& selection)
{
    json.beginObject();
    if (selection.period.hasFrom) json.numberField("from", selection.period.fromMs);
    if (selection.period.hasTo) json.numberField("to", selection.period.toMs);
    if (!selection.pool.empty()) json.textField("pool", selection.pool);
    if (!selection.table.empty()) json.textField("table", selection.table);
    if (!selection.kinds.empty()) {
        json.key("kinds");
        json.beginArray();
        for (const std::string& kind : selection.kinds) json.text(kind);
        json.endArray();
    }
    json.endObject();
}

std::string headerObject(const ExportHeader& header)
{
    std::string out;
    JsonText json{out};
    json.beginObject();
    json.numberField("jackpot_audit_export", kExportVersion);
    json.textField("checkpoint", header.note);
    json.key("keys");
    json.beginArray();
    for (const std::string& key : header.keys) json.text(key);
    json.endArray();
    json.key("selection");
    writeSelection(json, header.selection);
    json.numberField("first", static_cast<std::int64_t>(header.first));
    json.numberField("records", static_cast<std::int64_t>(header.records));
    json.endObject();
    return out;
}

Selection readSelection(const Json& json)
{
    Selection selection;
    selection.period.hasFrom = storage::find(json, "from") != nullptr;
    selection.period.hasTo = storage::find(json, "to") != nullptr;
    if (selection.period.hasFrom) selection.period.fromMs = storage::numberAt(json, "from");
    if (selection.period.hasTo) selection.period.toMs = storage::numberAt(json, "to");
    selection.pool = storage::textOr(json, "pool");
    selection.table = storage::textOr(json, "table");
    if (storage::find(json, "kinds")) selection.kinds = storage::textsAt(json, "kinds");
    return selection;
}

// The rest of the proof is the same for all records of a block and is put in base64 once.
class ProofText {
public:
    std::span<const std::string> of(const ProofBuilder::Proof& proof)
    {
        texts_.resize(proof.hashes.size());
        const std::size_t known = block_ == proof.block ? proof.sharedFrom : proof.hashes.size();
        for (std::size_t i = 0; i < known; ++i) texts_[i] = proof.hashes[i].base64();
        block_ = proof.block;
        return texts_;
    }

private:
    std::optional<std::uint64_t> block_;
    std::vector<std::string> texts_;
};

struct Range {
    std::uint64_t from;
    std::uint64_t to;
};

std::uint64_t countSelected(JournalView& journal, const Selection& selection, Range range)
{
    if (selection.byTimeAlone()) return range.to - range.from;
    std::uint64_t count = 0;
    Payload record;
    cli::Progress progress{"counting"};
    journal.forEach(range.from, range.to, [&](std::uint64_t seq, std::string_view payload) {
        record.parse(seq, payload);
        if (selection.contains(record)) ++count;
        if (seq % JournalView::kPageRecords == 0)
            progress.show(seq - range.from, range.to - range.from);
        return true;
    });
    return count;
}

void writeRecords(JournalView& journal, const ExportHeader& header, ExportForm form, Range range,
                  Output& out)
{
    ProofBuilder tree{journal};
    ProofText proofText;
    Payload record;
    std::string row;
    std::uint64_t written = 0;
    cli::Progress progress{"exporting"};
    journal.forEach(range.from, range.to, [&](std::uint64_t seq, std::string_view payload) {
        record.parse(seq, payload);
        if (seq % JournalView::kPageRecords == 0)
            progress.show(seq - range.from, range.to - range.from);
        if (!header.selection.contains(record)) return true;
        ++written;
        row.clear();
        appendRow(form, row, record, payload, proofText.of(tree.prove(seq)));
        out.write(row);
        return true;
    });
    if (written != header.records)
        throw AuditError{DoesNotVerify,
                         "the records' times decrease: run jackpot-audit verify to learn where"};
}

}  // namespace

std::string exportBegin(ExportForm form, const ExportHeader& header)
{
    const std::string object = headerObject(header);
    if (form == ExportForm::Jsonl) return object + "\n";
    return std::string{kCsvColumns} + csvRow({"checkpoint", "", "", "", "", "", "", object, ""});
}

ExportHeader readHeader(std::string_view text)
{
    const auto fail = [](const std::string& what) {
        return AuditError{DoesNotVerify, "the header: " + what};
    };
    rapidjson::Document document;
    document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
        text.data(), text.size());
    if (document.HasParseError()) throw fail("it is not well-formed JSON");
    ExportHeader header;
    try {
        const std::int64_t version = storage::numberAt(document, "jackpot_audit_export");
        if (version != kExportVersion)
            throw cli::CommandError{cli::kBadInput, "the export is of version " +
                                                        std::to_string(version) +
                                                        ", this program knows version " +
                                                        std::to_string(kExportVersion)};
        header.note = storage::textAt(document, "checkpoint");
        header.keys = storage::textsAt(document, "keys");
        header.selection = readSelection(storage::at(document, "selection"));
        const std::int64_t first = storage::numberAt(document, "first");
        const std::int64_t records = storage::numberAt(document, "records");
        if (first < 0 || records < 0) throw fail("a number is negative");
        header.first = static_cast<std::uint64_t>(first);
        header.records = static_cast<std::uint64_t>(records);
    } catch (const storage::BadJson& error) {
        throw fail(error.what());
    }
    if (headerObject(header) != text) throw fail("it is not as an export writes it");
    return header;
}

namespace {

void appendJsonRow(std::string& out, const Payload& record, std::string_view payload,
                   std::span<const std::string> proof)
{
    JsonText json{out};
    json.beginObject();
    json.numberField("seq", static_cast<std::int64_t>(record.seq()));
    json.textField("record", payload);
    if (!json.isFaithful()) record.fail("it is not UTF-8");
    json.key("proof");
    // Base64 needs no escaping, and it is most of the row.
    for (const std::string& hash : proof) {
        out += &hash == &proof.front() ? "[\"" : "\",\"";
        out += hash;
    }
    out += proof.empty() ? "[]}\n" : "\"]}\n";
}

void appendCsvRow(std::string& out, const Payload& record, std::string_view payload,
                  std::span<const std::string> proof)
{
    const auto round = record.round();
    for (const std::string& field :
         {std::to_string(record.seq()), isoTime(record.timeMs()), csvText(record.kind()),
          csvText(record.table()), csvText(record.pool()), round ? std::to_string(*round) : "",
          csvText(record.refusal())}) {
        appendCsvField(out, field);
        out += ',';
    }
    appendCsvField(out, payload);
    for (const std::string& hash : proof) {
        out += &hash == &proof.front() ? ',' : ' ';
        out += hash;
    }
    out += proof.empty() ? ",\r\n" : "\r\n";
}

}  // namespace

void appendRow(ExportForm form, std::string& out, const Payload& record, std::string_view payload,
               std::span<const std::string> proof)
{
    if (form == ExportForm::Jsonl)
        appendJsonRow(out, record, payload, proof);
    else
        appendCsvRow(out, record, payload, proof);
}

std::vector<std::string> exportClaims(const ExportHeader& header, std::uint64_t treeSize)
{
    const Period& period = header.selection.period;
    if (header.selection.byTimeAlone() && !period.hasFrom && !period.hasTo && header.first == 0)
        return {"It is complete: it has every record up to its checkpoint of " +
                std::to_string(treeSize) + " records."};
    std::vector<std::string> claims{
        "It proves that each of its records is in the journal as it stands here, at its number.",
        "It does not prove that the selection is complete: a record that was left out is not "
        "missed. For that, verify the journal itself."};
    if (header.selection.byTimeAlone())
        claims.emplace_back(
            "It was selected by time alone and has no gap; only before its first and after its "
            "last record could something be left out.");
    return claims;
}

namespace {

struct ExportOptions {
    std::vector<std::string> journal;
    PeriodOptions period;
    std::string format;
    std::string pool;
    std::string table;
    std::vector<std::string> kinds;
    std::vector<std::string> keys;
    std::string file;
};

int writeExport(const ExportOptions& options)
{
    const ExportForm form = options.format == "csv" ? ExportForm::Csv : ExportForm::Jsonl;
    const auto keys = cli::trustedKeys(options.keys);
    ExportHeader header;
    header.selection = {readPeriod(options.period), options.pool, options.table, options.kinds};
    if (options.file.empty() && cli::standardOutputIsTerminal())
        throw cli::UsageError{"an export is not for the terminal: give --out FILE"};

    cli::catchInterrupts();
    JournalView journal{{options.journal.begin(), options.journal.end()},
                        JournalView::kAllFiles,
                        cli::throwIfInterruptedWhileReading};
    requireSignedBy(journal, keys);
    cli::FileOutput out = options.file.empty() ? cli::FileOutput{} : cli::FileOutput{options.file};
    const Period& period = header.selection.period;
    const Range range{period.hasFrom ? journal.firstNotBefore(period.fromMs) : journal.first(),
                      period.hasTo ? journal.firstNotBefore(period.toMs) : journal.end()};
    header.note = journal.noteText();
    header.keys = signersOf(journal.note());
    header.first = journal.first();
    header.records = countSelected(journal, header.selection, range);
    out.write(exportBegin(form, header));
    writeRecords(journal, header, form, range, out);
    out.commit();
    printNotice("exported " + grouped(header.records) + " records: " + header.selection.inWords());
    for (const std::string& claim : exportClaims(header, journal.end())) printNotice(claim);
    return cli::kSuccess;
}

}  // namespace

void addExport(cli::Command& program)
{
    auto options = std::make_shared<ExportOptions>();
    cli::Command& command = program.add("export", "write selected records with their proofs");
    command
        .describe(
            "Writes the selected records, each with the proof that it is in the journal, and the "
            "signed checkpoint of the proofs. \"jackpot-audit verify FILE\" checks the "
            "export.\n\nIt proves each record. It does not prove that no record of the selection "
            "is missing, unless it is an export of the whole journal.")
        .arguments("JOURNAL", options->journal, kJournalHelp)
        .choice("--format FORMAT", options->format, {"jsonl", "csv"},
                "a header line and one JSON object per line, or RFC 4180 for spreadsheets")
        .required();
    addFromAndTo(command, options->period);
    command.option("--pool POOL", options->pool, "only records that concern the pool")
        .option("--table TABLE", options->table, "only records that concern the table")
        .option("--kind KIND", options->kinds, "only records of this kind")
        .option("--key VKEY", options->keys, kOptionalKeyHelp)
        .option("--out FILE", options->file,
                "a new file, which appears when it is complete; else standard output")
        .exitStatuses({{0, "written"},
                       {1, "the journal does not verify"},
                       {2,
                        "the command line is wrong, or a file cannot be read or written: no FILE "
                        "was made"}})
        .example("jackpot-audit export --format csv --from 2026-05-01 --out may.csv journal")
        .run([options] { return writeExport(*options); });
}

}  // namespace jackpot::auditor
