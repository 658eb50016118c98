#include "tools/jackpot-audit/export.h"

#include "audit/journal_view.h"
#include "audit/proof_builder.h"
#include "storage/json_text.h"
#include "tools/jackpot-audit/commands.h"
#include "tools/jackpot-audit/output.h"
#include "tools/jackpot-audit/period.h"

namespace jackpot::audit {
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
    Progress progress{"counting"};
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
    Progress progress{"exporting"};
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
        throw Stop{kDoesNotVerify,
                   "the records' times decrease: run jackpot-audit verify to learn where"};
}

constexpr std::string_view kHelp =
    R"(jackpot-audit export - selected records with their proofs

Usage:
  jackpot-audit export --format jsonl|csv [--from TIME] [--to TIME] [--pool P] [--table T]
                       [--kind K]... [--key VKEY] [--out FILE] JOURNAL...

Writes the records of the selection, each with the proof that it is in the journal, and the signed
checkpoint that the proofs lead to. "jackpot-audit verify FILE" reads it back.
It proves each record; it does not prove that no record of the selection was left out, unless it is of
the whole journal.

Options:
  --format F   jsonl: a header line, then one JSON object a line; csv: RFC 4180, for spreadsheets
  --from TIME  not before: 2026-05-01, 2026-05-01T12:00:00.000Z or Unix milliseconds; UTC
  --to TIME    before
  --pool P     records that concern the pool
  --table T    records that concern the table
  --kind K     records of this kind; may be given several times
  --key VKEY   check that this key (or @FILE) signed the checkpoint; else JACKPOT_AUDIT_KEY
  --out FILE   a new file, which appears when it is whole; else standard output
  --help       print this

Exit status:
  0   written
  1   the journal does not verify
  2   the command line is wrong, or something cannot be read or written: no FILE was made
)";

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
        return Stop{kDoesNotVerify, "the header: " + what};
    };
    rapidjson::Document document;
    document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
        text.data(), text.size());
    if (document.HasParseError()) throw fail("it is not well-formed JSON");
    ExportHeader header;
    try {
        const std::int64_t version = storage::numberAt(document, "jackpot_audit_export");
        if (version != kExportVersion)
            throw Stop{kBadInput, "the export is of version " + std::to_string(version) +
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

int exportCommand(const std::vector<std::string>& given)
{
    if (printHelp(given, kHelp)) return kGood;
    const Arguments arguments{"export",
                              given,
                              {kKeyOption,
                               kFromOption,
                               kToOption,
                               {"--format", Option::Form::Value},
                               {"--pool", Option::Form::Value},
                               {"--table", Option::Form::Value},
                               {"--kind", Option::Form::Values},
                               {"--out", Option::Form::Value}}};
    arguments.requirePositional(1, kAnyNumber, "JOURNAL");
    const std::string format = arguments.value("--format").value_or("");
    if (format != "jsonl" && format != "csv") arguments.refuse("--format takes jsonl or csv");
    const ExportForm form = format == "csv" ? ExportForm::Csv : ExportForm::Jsonl;
    const auto keys = trustedKeys(arguments);

    ExportHeader header;
    header.selection = {periodOf(arguments), arguments.value("--pool").value_or(""),
                        arguments.value("--table").value_or(""), arguments.values("--kind")};
    for (const std::string_view option : {"--pool", "--table", "--out"})
        if (arguments.value(option) == "") arguments.refuse(std::string{option} + " is empty");
    const auto file = arguments.value("--out");
    if (!file && standardOutputIsTerminal())
        arguments.refuse("an export is not for the terminal: give --out FILE");

    rememberInterrupts();
    JournalView journal{arguments.paths(0), JournalView::kAllFiles, pauseForInterrupts};
    requireSignedBy(journal, keys);
    FileOutput out = file ? FileOutput{*file} : FileOutput{};
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
    say("exported " + grouped(header.records) + " records: " + header.selection.inWords());
    for (const std::string& claim : exportClaims(header, journal.end())) say(claim);
    return kGood;
}

}  // namespace jackpot::audit
