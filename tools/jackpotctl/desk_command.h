// The commands of jackpotctl that do the work of the claims desk, through its API. One table of
// them is what runs them, what --help of each prints and what completion knows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/jackpotctl/desk_client.h"

namespace jackpot::tools {

struct DeskCommand {
    std::string_view name;
    std::string_view help;
    std::vector<audit::Option> options;  // besides those of every command at the desk
    std::size_t least = 0;               // arguments that are no options
    std::size_t most = 0;
    std::string_view takes;  // those in words
    void (*work)(DeskClient&, const audit::Arguments&);
    std::string_view next;  // what the first of them can be, for completion
};

// Claims, payments, and what is wrong with a round.
std::vector<DeskCommand> claimCommands();
// What is held, and the rulings on it.
std::vector<DeskCommand> rulingCommands();
// What takes two people.
std::vector<DeskCommand> proposalCommands();
// Pools, tables and notices.
std::vector<DeskCommand> houseCommands();
// A daemon that is locked, and accepting that its journal was restored.
std::vector<DeskCommand> lockCommands();
// Records, proofs and reports.
std::vector<DeskCommand> recordCommands();

const std::vector<DeskCommand>& deskCommands();
const DeskCommand* findDeskCommand(std::string_view name);
int runDeskCommand(const DeskCommand& command, const std::vector<std::string>& given);

}  // namespace jackpot::tools
