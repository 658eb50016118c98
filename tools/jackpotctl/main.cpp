// jackpotctl: the operator's and inspector's command line.
#include <iostream>
#include <memory>

#include "tools/cli/command_error.h"
#include "tools/cli/command_line.h"
#include "tools/jackpotctl/commands.h"
#include "tools/jackpotctl/desk_command.h"

namespace {

using namespace jackpot;

void addCompletion(cli::Program& program)
{
    auto shell = std::make_shared<std::string>();
    program.root()
        .add("completion", "print the completion script of a shell")
        .describe("Load it with: source <(jackpotctl completion bash)")
        .argumentChoice("SHELL", *shell, {"bash"})
        .exitStatuses({{0, "printed"}, {2, "the command line is wrong"}})
        .run([shell, &program] {
            std::cout << cli::bashCompletion(program);
            return cli::kSuccess;
        });
}

}  // namespace

int main(int argc, char** argv)
{
    cli::Program program{"jackpotctl", JACKPOT_VERSION,
                         "query and operate the progressive jackpot controller"};
    cli::Command& root = program.root();
    root.usage("COMMAND ...").usage("COMMAND --help").usage("--help | --version");
    for (const auto add :
         {ctl::addSimulate, ctl::addJournalCommands, ctl::addBackupAndRestore, ctl::addPkiCommands})
        add(root);
    addCompletion(program);
    for (const auto add :
         {ctl::addDaemonCommands, ctl::addPeopleCommands, ctl::addPoolAndTableCommands,
          ctl::addClaimCommands, ctl::addRulingCommands, ctl::addProposalCommands,
          ctl::addLockCommands, ctl::addRecordCommands})
        add(root);
    return program.run({argv + 1, argv + argc});
}
