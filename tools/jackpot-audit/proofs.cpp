// jackpot-audit prove, check-proof and checkpoint.
#include <memory>

#include "audit/describe.h"
#include "audit/journal_view.h"
#include "audit/proof_builder.h"
#include "audit/signers.h"
#include "storage/proof.h"
#include "storage/record.h"
#include "tools/cli/command_error.h"
#include "tools/cli/output.h"
#include "tools/cli/read_file.h"
#include "tools/cli/verifier_keys.h"
#include "tools/jackpot-audit/commands.h"

namespace jackpot::auditor {

using namespace audit;

namespace {

struct ProofOptions {
    std::vector<std::string> keys;
    std::vector<std::string> journal;
    std::uint64_t seq = 0;
    std::string prefix;
    std::string recordFile;
    std::string proofFile;
};

std::vector<std::filesystem::path> pathsOf(const std::vector<std::string>& names)
{
    return {names.begin(), names.end()};
}

int prove(const ProofOptions& options)
{
    const auto keys = cli::trustedKeys(options.keys);
    JournalView journal{pathsOf(options.journal)};
    requireSignedBy(journal, keys);
    cli::FileOutput record{options.prefix + ".record"};
    cli::FileOutput proof{options.prefix + ".tlog-proof"};
    record.write(journal.payload(options.seq));
    proof.write(proofText(journal, options.seq));
    record.commit();
    try {
        proof.commit();
    } catch (const cli::CommandError&) {
        record.undo();
        throw;
    }
    printNotice("record " + std::to_string(options.seq) + " is proved against the checkpoint of " +
                grouped(journal.end()) + " records: " + options.prefix + ".record, " +
                options.prefix + ".tlog-proof");
    return cli::kSuccess;
}

int checkProofFile(const ProofOptions& options)
{
    const auto keys = cli::requiredKeys(options.keys);
    const std::string record = cli::readFile(options.recordFile, storage::kMaxRecordBytes);
    const auto notProved = [&](const std::string& what) {
        return AuditError{DoesNotVerify,
                          options.proofFile + ": it does not prove the record: " + what};
    };

    const auto proof =
        storage::Proof::parse(cli::readFile(options.proofFile, storage::kMaxProofBytes));
    if (!proof) throw notProved(proof.error().message);
    const storage::Verifier* key = signerAmong(keys, proof->checkpoint);
    if (key == nullptr) throw notProved("its checkpoint: " + notSignedBy(keys, proof->checkpoint));
    const auto checkpoint = checkProof(record, *proof, *key);
    if (!checkpoint) throw notProved(checkpoint.error().message);
    Payload parsed;
    parsed.parse(proof->index, record);

    cli::FileOutput out;
    out.line("The record is record " + std::to_string(proof->index) + " of the journal " +
             checkpoint->origin + ", as signed in its checkpoint of " + grouped(checkpoint->size) +
             " records.");
    out.line("  " + oneLine(parsed));
    out.commit();
    return cli::kSuccess;
}

int printCheckpoint(const ProofOptions& options)
{
    const auto keys = cli::trustedKeys(options.keys);
    const JournalView journal{pathsOf(options.journal)};
    requireSignedBy(journal, keys);
    cli::FileOutput out;
    out.lines(journal.noteText());
    out.commit();
    return cli::kSuccess;
}

}  // namespace

void addProve(cli::Command& program)
{
    auto options = std::make_shared<ProofOptions>();
    program.add("prove", "write one record with its proof")
        .describe(
            "Writes PREFIX.record, the exact bytes of record SEQ, and PREFIX.tlog-proof, the proof "
            "that the journal has it (c2sp.org/tlog-proof@v1, with the signed checkpoint). The "
            "holder of the verifier key checks both without the journal, with jackpot-audit "
            "check-proof or any other tool that knows the format.")
        .argument("SEQ", options->seq, "the number of the record")
        .arguments("JOURNAL", options->journal, kJournalHelp)
        .option("--out PREFIX", options->prefix, "neither file may exist yet")
        .required()
        .option("--key VKEY", options->keys, kOptionalKeyHelp)
        .exitStatuses({{0, "written"},
                       {1, "the journal does not verify; neither file was made"},
                       {2,
                        "the command line is wrong, or a file cannot be read or written; neither "
                        "file was made"}})
        .run([options] { return prove(*options); });
}

void addCheckProof(cli::Command& program)
{
    auto options = std::make_shared<ProofOptions>();
    program.add("check-proof", "check that a record is in the journal")
        .describe(
            "Checks, without the journal, that the file RECORD is a record of the journal that the "
            "key signs: the checkpoint's signature, and the hashes from the record to the "
            "checkpoint's root.")
        .argument("RECORD", options->recordFile, "the record's exact bytes")
        .argument("PROOF", options->proofFile, "its proof")
        .option("--key VKEY", options->keys, kKeyHelp)
        .exitStatuses({{0, "the record is in the journal"},
                       {1, "it is not proved"},
                       {2, "the command line is wrong, or a file cannot be read"}})
        .run([options] { return checkProofFile(*options); });
}

void addCheckpoint(cli::Command& program)
{
    auto options = std::make_shared<ProofOptions>();
    program.add("checkpoint", "print the latest signed checkpoint")
        .describe(
            "Prints the journal's latest checkpoint as it was signed. Keep it: with "
            "\"jackpot-audit "
            "verify --since\" you can show at your next visit that the journal still has this "
            "history.")
        .arguments("JOURNAL", options->journal, kJournalHelp)
        .option("--key VKEY", options->keys, kOptionalKeyHelp)
        .exitStatuses({{0, "printed"},
                       {1, "the journal does not verify"},
                       {2, "the command line is wrong, or the journal cannot be read"}})
        .run([options] { return printCheckpoint(*options); });
}

}  // namespace jackpot::auditor
