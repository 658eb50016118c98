// jackpot-audit prove, check-proof and checkpoint.
#include "audit/describe.h"
#include "audit/journal_view.h"
#include "audit/proof_builder.h"
#include "storage/proof.h"
#include "storage/record.h"
#include "tools/jackpot-audit/cli.h"
#include "tools/jackpot-audit/commands.h"
#include "tools/jackpot-audit/output.h"

namespace jackpot::audit {
namespace {

constexpr std::string_view kProveHelp =
    R"(jackpot-audit prove - one record with its proof, for someone without the journal

Usage:
  jackpot-audit prove SEQ --out PREFIX [--key VKEY] JOURNAL...

Writes PREFIX.record, the exact bytes of record SEQ, and PREFIX.tlog-proof, the proof that the journal
has it (c2sp.org/tlog-proof@v1, with the signed checkpoint). Whoever holds the verifier key checks them
with "jackpot-audit check-proof" or any other tool that knows the form.

Options:
  --out PREFIX  neither file may be there yet
  --key VKEY    check that this key (or @FILE) signed the checkpoint; else JACKPOT_AUDIT_KEY
  --help        print this

Exit status: 0 written; 1 the journal does not verify; 2 the command line is wrong, or something
cannot be read or written. Unless it is 0, neither file was made.
)";

constexpr std::string_view kCheckProofHelp =
    R"(jackpot-audit check-proof - is this record in the journal?

Usage:
  jackpot-audit check-proof RECORD PROOF --key VKEY

Checks, without the journal, that the file RECORD is a record of the journal that the key signs: the
checkpoint's signature, and the way from the record to the checkpoint's root.

Options:
  --key VKEY  the verifier key that you hold, or @FILE; several allowed; else JACKPOT_AUDIT_KEY
  --help      print this

Exit status: 0 it is; 1 it is not proved; 2 the command line is wrong or a file cannot be read
)";

constexpr std::string_view kCheckpointHelp =
    R"(jackpot-audit checkpoint - the latest signed checkpoint

Usage:
  jackpot-audit checkpoint [--key VKEY] JOURNAL...

Prints the journal's latest checkpoint as it was signed. Keep it: "verify --since" shows at your next
visit that the journal still has this history.

Options:
  --key VKEY  check that this key (or @FILE) signed it; several allowed; else JACKPOT_AUDIT_KEY
  --help      print this

Exit status: 0 printed; 1 the journal does not verify; 2 the command line is wrong or the journal
cannot be read
)";

}  // namespace

int proveCommand(const std::vector<std::string>& given)
{
    if (printHelp(given, kProveHelp)) return kGood;
    const Arguments arguments{"prove", given, {kKeyOption, {"--out", Option::Form::Value}}};
    arguments.requirePositional(2, kAnyNumber, "SEQ and JOURNAL");
    const std::uint64_t seq = recordNumber(arguments, arguments.positional()[0]);
    const std::string prefix = arguments.value("--out").value_or("");
    if (prefix.empty()) arguments.refuse("--out PREFIX is needed");
    const auto keys = trustedKeys(arguments);

    JournalView journal{arguments.paths(1)};
    requireSignedBy(journal, keys);
    FileOutput record{prefix + ".record"};
    FileOutput proof{prefix + ".tlog-proof"};
    record.write(journal.payload(seq));
    proof.write(proofText(journal, seq));
    record.commit();
    try {
        proof.commit();
    } catch (const Stop&) {
        record.undo();
        throw;
    }
    say("record " + std::to_string(seq) + " is proved against the checkpoint of " +
        grouped(journal.end()) + " records: " + prefix + ".record, " + prefix + ".tlog-proof");
    return kGood;
}

int checkProofCommand(const std::vector<std::string>& given)
{
    if (printHelp(given, kCheckProofHelp)) return kGood;
    const Arguments arguments{"check-proof", given, {kKeyOption}};
    arguments.requirePositional(2, 2, "RECORD and PROOF");
    const auto keys = requiredKeys(arguments);
    const std::string record = readFile(arguments.positional()[0], storage::kMaxRecordBytes);
    const std::string& proofFile = arguments.positional()[1];
    const auto notProved = [&](const std::string& what) {
        return Stop{kDoesNotVerify, proofFile + ": it does not prove the record: " + what};
    };

    const auto proof = storage::Proof::parse(readFile(proofFile, storage::kMaxProofBytes));
    if (!proof) throw notProved(proof.error().message);
    const storage::Verifier* key = signerAmong(keys, proof->checkpoint);
    if (key == nullptr) throw notProved("its checkpoint: " + notSignedBy(keys, proof->checkpoint));
    const auto checkpoint = checkProof(record, *proof, *key);
    if (!checkpoint) throw notProved(checkpoint.error().message);
    Payload parsed;
    parsed.parse(proof->index, record);

    FileOutput out;
    out.line("The record is record " + std::to_string(proof->index) + " of the journal " +
             checkpoint->origin + ", as signed in its checkpoint of " + grouped(checkpoint->size) +
             " records.");
    out.line("  " + oneLine(parsed));
    out.commit();
    return kGood;
}

int checkpointCommand(const std::vector<std::string>& given)
{
    if (printHelp(given, kCheckpointHelp)) return kGood;
    const Arguments arguments{"checkpoint", given, {kKeyOption}};
    arguments.requirePositional(1, kAnyNumber, "JOURNAL");
    const auto keys = trustedKeys(arguments);
    const JournalView journal{arguments.paths(0)};
    requireSignedBy(journal, keys);
    FileOutput out;
    out.lines(journal.noteText());
    out.commit();
    return kGood;
}

}  // namespace jackpot::audit
