// jackpot-audit: the auditors' command line.
#include <unistd.h>

#include <stdexcept>

#include "base/printable.h"
#include "tools/cli/command_error.h"
#include "tools/jackpot-audit/commands.h"

namespace jackpot::auditor {

void printNotice(const std::string& message)
{
    const std::string line = "jackpot-audit: " + printable(message) + "\n";
    [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace jackpot::auditor

int main(int argc, char** argv)
{
    using namespace jackpot;
    cli::Program program{"jackpot-audit", JACKPOT_VERSION,
                         "verify, read and prove what jackpotd has recorded"};
    cli::Command& root = program.root();
    for (const auto add :
         {auditor::addVerify, auditor::addExport, auditor::addProve, auditor::addCheckProof,
          auditor::addCheckpoint, auditor::addShow, auditor::addTail, auditor::addReport,
          auditor::addWitness, auditor::addKeygen, auditor::addPubkey})
        add(root);
    root.usage("COMMAND ...")
        .usage("COMMAND --help")
        .usage("--help | --version")
        .describe(
            "A JOURNAL is the journal's directory, or one or several of its files; a copy, or the "
            "one in use. The verifier key that you hold is given with --key, or in "
            "JACKPOT_AUDIT_KEY.")
        .exitStatuses({{0, "good"},
                       {1, "the journal, the export or the proof does not verify"},
                       {2, "the command line is wrong, or a file cannot be read or written"}});
    return program.run({argv + 1, argv + argc});
}
