#include "tools/jackpotctl/desk_command.h"

#include <algorithm>
#include <iterator>

namespace jackpot::tools {

const std::vector<DeskCommand>& deskCommands()
{
    static const std::vector<DeskCommand> kAll = [] {
        std::vector<DeskCommand> all;
        for (const auto part : {claimCommands, rulingCommands, proposalCommands, lockCommands,
                                houseCommands, recordCommands})
            std::ranges::copy(part(), std::back_inserter(all));
        return all;
    }();
    return kAll;
}

const DeskCommand* findDeskCommand(std::string_view name)
{
    const auto found = std::ranges::find(deskCommands(), name, &DeskCommand::name);
    return found == deskCommands().end() ? nullptr : &*found;
}

int runDeskCommand(const DeskCommand& command, const std::vector<std::string>& given)
{
    return withDesk(std::string{command.name}, command.help, given, command.options,
                    [&](DeskClient& desk, const audit::Arguments& arguments) {
                        arguments.requirePositional(command.least, command.most, command.takes);
                        command.work(desk, arguments);
                    });
}

}  // namespace jackpot::tools
