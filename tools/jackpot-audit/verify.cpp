// jackpot-audit verify.
#include "storage/verify.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <memory>

#include "audit/journal_view.h"
#include "audit/signers.h"
#include "storage/json_text.h"
#include "tools/cli/command_error.h"
#include "tools/cli/interrupts.h"
#include "tools/cli/journal_verification.h"
#include "tools/cli/output.h"
#include "tools/cli/read_file.h"
#include "tools/cli/verifier_keys.h"
#include "tools/jackpot-audit/commands.h"
#include "tools/jackpot-audit/export.h"

namespace jackpot::auditor {

using namespace audit;

namespace {

namespace fs = std::filesystem;
using storage::Fault;
using storage::JsonText;
using storage::Verified;

constexpr std::string_view kSqliteBegin{"SQLite format 3\0", 16};

struct Inputs {
    std::vector<storage::Verifier> keys;
    std::vector<fs::path> paths;
    std::optional<std::string> since;
    std::optional<fs::path> keep;
    bool json = false;
};

void row(Output& out, std::string_view label, const std::string& text)
{
    std::string line = "  " + std::string{label};
    line.resize(20, ' ');
    out.line(line + text);
}

template <class T>
std::string joined(const std::vector<T>& parts)
{
    std::string text;
    for (const T& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
}

void textList(JsonText& json, std::string_view name, const std::vector<std::string>& texts)
{
    json.key(name);
    json.beginArray();
    for (const std::string& each : texts) json.text(each);
    json.endArray();
}

// --- a journal
// -------------------------------------------------------------------------------------------

// The auditor trusts the earlier checkpoint. Its signature is checked as well, and a wrong one is
// reported.
std::vector<std::string> checkEarlierCheckpoint(const std::string& text, const Inputs& inputs)
{
    const auto note = storage::Note::parse(text);
    const auto checkpoint =
        note ? storage::Checkpoint::parse(note->text) : Result<storage::Checkpoint>{note.error()};
    if (!checkpoint)
        throw cli::CommandError{cli::kBadInput,
                                "--since: it is not a checkpoint: " + checkpoint.error().message};
    const storage::Verifier* key = signerAmong(inputs.keys, *note);
    if (key == nullptr)
        return {"your earlier checkpoint is signed by " + joined(signersOf(*note)) +
                ", which is not a key that you gave; its root was compared anyway"};
    if (const auto opened = openCheckpoint(*note, *key); !opened)
        throw AuditError{DoesNotVerify, "your earlier checkpoint: " + opened.error().message};
    return {};
}

struct Times {
    std::string first;
    std::string last;
};

Times timesOf(const std::vector<fs::path>& files, const Verified& verified)
{
    const auto timeOf = [](const fs::path& file, std::uint64_t seq) {
        auto reader = storage::JournalReader::open(file);
        const auto payload =
            reader ? reader->payload(seq)
                   : storage::SqliteResult<std::optional<std::string>>{reader.error()};
        if (!payload || !*payload) return std::string{"unknown"};
        Payload record;
        record.parse(seq, **payload);
        return isoTime(record.timeMs());
    };
    return {timeOf(files.front(), verified.first), timeOf(files.back(), verified.end - 1)};
}

void printVerified(const Verified& verified, const Times& times, const Inputs& inputs, Output& out)
{
    const auto note = storage::Note::parse(verified.lastNote);
    const auto signers = note ? signersOf(*note) : std::vector<std::string>{};
    if (inputs.json) {
        std::string text;
        JsonText json{text};
        json.beginObject();
        json.boolField("verified", true);
        json.numberField("first", static_cast<std::int64_t>(verified.first));
        json.numberField("end", static_cast<std::int64_t>(verified.end));
        json.numberField("commands", static_cast<std::int64_t>(verified.commands));
        json.numberField("checkpoints", static_cast<std::int64_t>(verified.checkpoints));
        json.textField("first_time", times.first);
        json.textField("last_time", times.last);
        json.textField("checkpoint", verified.lastNote);
        textList(json, "keys", signers);
        textList(json, "remarks", verified.remarks);
        json.endObject();
        out.write(text + "\n");
        return;
    }
    out.line("The journal " + verified.last.origin + " verifies.");
    row(out, "records",
        grouped(verified.end - verified.first) + ", from " + std::to_string(verified.first) +
            " to " + std::to_string(verified.end - 1));
    row(out, "first", times.first);
    row(out, "last", times.last);
    row(out, "commands",
        grouped(verified.commands) + ", each outcome computed again, to the last 1e-8 dollar");
    row(out, "checkpoints",
        grouped(verified.checkpoints) + ", each with its root and its signatures");
    row(out, "last checkpoint",
        "size " + std::to_string(verified.last.size) + ", root " + verified.last.root.base64());
    row(out, "signed by", joined(signers));
    for (const std::string& remark : verified.remarks) row(out, "remark", remark);
}

int printFault(const std::optional<std::uint64_t>& seq, const std::string& what,
               const std::string& file, const Inputs& inputs, std::string_view subject)
{
    cli::FileOutput out;
    if (inputs.json) {
        std::string text;
        JsonText json{text};
        json.beginObject();
        json.boolField("verified", false);
        if (seq) json.numberField("record", static_cast<std::int64_t>(*seq));
        json.textField("what", what);
        json.textField("file", file);
        json.endObject();
        out.write(text + "\n");
    } else {
        out.line("The " + std::string{subject} + " does NOT verify.");
        if (seq) row(out, "first bad record", std::to_string(*seq));
        row(out, "what is wrong", what);
        if (!file.empty()) row(out, "file", file);
        row(out, "what to do next",
            "check that the key is the right one; keep this copy as it is; call an inspector");
    }
    out.commit();
    return cli::kDoesNotVerify;
}

int verifyJournal(const Inputs& inputs)
{
    std::vector<std::string> remarks;
    if (inputs.since) remarks = checkEarlierCheckpoint(*inputs.since, inputs);
    auto [journal, files, result] = cli::verifyWhole(inputs.paths, inputs.keys, inputs.since);
    if (!result) {
        const Fault& fault = result.error();
        return printFault(fault.seq, fault.what, fault.file.string(), inputs, "journal");
    }
    Verified& verified = *result;
    verified.remarks.insert(verified.remarks.end(), remarks.begin(), remarks.end());

    std::optional<cli::FileOutput> kept;
    if (inputs.keep) kept.emplace(*inputs.keep);
    cli::FileOutput out;
    printVerified(verified, timesOf(files, verified), inputs, out);
    if (kept) {
        kept->write(verified.lastNote);
        kept->commit();
    }
    out.commit();
    return cli::kSuccess;
}

// --- an export
// -------------------------------------------------------------------------------------------

void printChecked(const CheckedExport& checked, const Inputs& inputs, Output& out)
{
    const ExportHeader& header = checked.header;
    const auto claims = exportClaims(header, checked.checkpoint.size);
    if (inputs.json) {
        std::string text;
        JsonText json{text};
        json.beginObject();
        json.boolField("verified", true);
        json.numberField("records", static_cast<std::int64_t>(header.records));
        if (checked.firstSeq) {
            json.numberField("first", static_cast<std::int64_t>(*checked.firstSeq));
            json.numberField("last", static_cast<std::int64_t>(checked.lastSeq));
            json.textField("first_time", isoTime(checked.firstMs));
            json.textField("last_time", isoTime(checked.lastMs));
        }
        json.textField("checkpoint", header.note);
        textList(json, "keys", header.keys);
        json.boolField("complete", claims.size() == 1);
        textList(json, "claims", claims);
        json.endObject();
        out.write(text + "\n");
        return;
    }
    out.line("The export of the journal " + checked.checkpoint.origin + " verifies.");
    row(out, "records", grouped(header.records));
    if (checked.firstSeq) {
        row(out, "first",
            "record " + std::to_string(*checked.firstSeq) + ", " + isoTime(checked.firstMs));
        row(out, "last",
            "record " + std::to_string(checked.lastSeq) + ", " + isoTime(checked.lastMs));
    }
    row(out, "selection", header.selection.inWords());
    row(out, "checkpoint",
        "size " + std::to_string(checked.checkpoint.size) + ", root " +
            checked.checkpoint.root.base64());
    row(out, "signed by", joined(header.keys));
    for (const std::string& claim : claims) out.line(claim);
}

int verifyExport(const Inputs& inputs, ExportForm form)
{
    CheckedExport checked;
    try {
        checked = checkExport(inputs.paths[0], form, inputs.keys);
    } catch (const AuditError& error) {
        if (error.kind() != DoesNotVerify) throw;
        return printFault(std::nullopt, error.what(), "", inputs, "export");
    }
    cli::FileOutput out;
    printChecked(checked, inputs, out);
    out.commit();
    return cli::kSuccess;
}

// The form of the export; nullopt for a file or directory of a journal.
std::optional<ExportForm> formOf(const fs::path& path)
{
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return std::nullopt;
    std::array<char, 64> bytes{};
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
        throw cli::CommandError{cli::kBadInput,
                                path.string() + ": it cannot be opened: " + systemError(errno)};
    const ssize_t got = ::read(descriptor, bytes.data(), bytes.size());
    const int failure = errno;
    ::close(descriptor);
    if (got < 0)
        throw cli::CommandError{cli::kBadInput,
                                path.string() + ": it cannot be read: " + systemError(failure)};
    const std::string_view begin{bytes.data(), static_cast<std::size_t>(got)};
    if (begin.starts_with(kSqliteBegin)) return std::nullopt;
    if (const auto form = exportFormOf(begin)) return form;
    throw cli::CommandError{cli::kBadInput,
                            path.string() +
                                ": it is neither a journal (an SQLite file) nor an export of "
                                "jackpot-audit: check the name"};
}

struct VerifyOptions {
    std::vector<std::string> paths;
    std::vector<std::string> keys;
    std::optional<std::string> since;
    std::optional<std::string> keep;
    bool json = false;
};

int verify(const VerifyOptions& options)
{
    Inputs inputs{cli::requiredKeys(options.keys),
                  {options.paths.begin(), options.paths.end()},
                  std::nullopt,
                  std::nullopt,
                  options.json};
    std::optional<ExportForm> form;
    for (const fs::path& path : inputs.paths) {
        const auto found = formOf(path);
        if (!found) continue;
        form = found;
        if (inputs.paths.size() > 1)
            throw cli::UsageError{path.string() + " is an export: verify it alone"};
        if (options.since || options.keep)
            throw cli::UsageError{"--since and --keep are for journals, " + path.string() +
                                  " is an export"};
    }
    if (options.since) inputs.since = cli::readFile(*options.since, storage::kMaxNoteBytes);
    if (options.keep) {
        std::error_code error;
        if (fs::exists(*options.keep, error))
            throw cli::CommandError{
                cli::kBadInput,
                *options.keep + ": a file of that name exists: choose another name"};
        inputs.keep = *options.keep;
    }
    cli::catchInterrupts();
    return form ? verifyExport(inputs, *form) : verifyJournal(inputs);
}

}  // namespace

void addVerify(cli::Command& program)
{
    auto options = std::make_shared<VerifyOptions>();
    program.add("verify", "check that a journal or an export is what was signed")
        .usage("--key VKEY JOURNAL... [OPTIONS]")
        .usage("--key VKEY EXPORT [--json]")
        .describe(
            "In a journal it checks every record's hash, every checkpoint's root and signature, "
            "sequence and time, and computes every outcome again from its command by the rules, to "
            "the byte. It names the first bad record. A journal in use can be verified: the "
            "records "
            "that are committed when the command begins are checked.\n\nIn an export it checks the "
            "checkpoint's signature, and every record's proof, order and columns.")
        .arguments("JOURNAL", options->paths, kJournalHelp)
        .option("--key VKEY", options->keys, kKeyHelp)
        .option("--since FILE", options->since,
                "the checkpoint that you kept at an earlier visit: the journal must still have "
                "that history")
        .option("--keep FILE", options->keep,
                "write the verified checkpoint to this new file, for the next visit")
        .flag("--json", options->json, "print the result as JSON")
        .exitStatuses({{0, "it verifies"},
                       {1, "it does not verify: the first fault is printed"},
                       {2, "the command line is wrong, or a file cannot be read or written"}})
        .example("jackpot-audit verify --key @journal.vkey --keep today.checkpoint journal")
        .run([options] { return verify(*options); });
}

}  // namespace jackpot::auditor
