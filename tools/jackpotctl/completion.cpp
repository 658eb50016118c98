#include "tools/jackpotctl/completion.h"

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "tools/jackpotctl/desk_command.h"

namespace jackpot::tools {
namespace {

struct Words {
    std::string_view command;
    std::string_view next;     // what can follow it, in words
    std::string_view options;  // besides --help
};

constexpr std::string_view kDesk = " --desk --ca --config --certificate --key --json";

// A line for each command of jackpotctl but those of desk_command.h, which know their own; a test
// compares all of them with jackpotctl --help.
constexpr Words kCommands[] = {
    {"simulate", "", "--explain"},
    {"journal", "create record rotate-key archive", ""},
    {"backup", "", "--config --journal --key"},
    {"restore", "", "--to --key --witness --although-behind"},
    {"pki", "init issue renew revoke crl list", "--dir --host --days --json"},
    {"reload", "", "--config"},
    {"change-pool", "", "--reason --by --config"},
    {"status", "", "--json --config"},
    {"meters", "", "--json --config"},
    {"user", "add password unlock", "--role --config"},
    {"login", "", "--name DESK"},
    {"logout", "", "DESK"},
    {"whoami", "", "DESK"},
    {"users", "list add change disable unlock password",
     "--role --fingerprint --no-fingerprint --enable --reset-password DESK"},
    {"completion", "bash", ""},
};

constexpr std::string_view kHelp =
    R"(jackpotctl completion - completion for a shell

Usage:
  jackpotctl completion bash      source <(jackpotctl completion bash)
)";

}  // namespace

int completionCommand(const std::vector<std::string>& given)
{
    constexpr int kBadInput = 2;
    const bool isHelp = given.size() == 1 && (given[0] == "--help" || given[0] == "-h");
    if (isHelp) {
        std::cout << kHelp;
        return EXIT_SUCCESS;
    }
    if (given.size() != 1 || given[0] != "bash") {
        std::cerr << kHelp;
        return kBadInput;
    }
    std::string commands;
    std::string cases;
    const auto add = [&](std::string_view command, std::string_view next, std::string options) {
        if (const auto at = options.find("DESK"); at != std::string::npos)
            options.replace(at, 4, kDesk);
        commands += std::string{command} + " ";
        cases += "        " + std::string{command} + ") next='" + std::string{next} +
                 "' options='" + options + "' ;;\n";
    };
    for (const Words& each : kCommands) add(each.command, each.next, std::string{each.options});
    for (const DeskCommand& each : deskCommands()) {
        std::string options;
        for (const audit::Option& option : each.options) options += std::string{option.name} + " ";
        add(each.name, each.next, options + "DESK");
    }
    std::cout << "# jackpotctl completion bash\n"
                 "_jackpotctl() {\n"
                 "    local next='' options='' word=${COMP_WORDS[COMP_CWORD]}\n"
                 "    if ((COMP_CWORD == 1)); then\n"
                 "        mapfile -t COMPREPLY < <(compgen -W '"
              << commands
              << "--help --version' -- \"$word\")\n"
                 "        return\n"
                 "    fi\n"
                 "    case ${COMP_WORDS[COMP_CWORD - 1]} in\n"
                 "        --role)\n"
                 "            mapfile -t COMPREPLY < <(compgen -W 'supervisor surveillance auditor"
                 " inspector administrator' -- \"$word\")\n"
                 "            return ;;\n"
                 "        --state)\n"
                 "            local states='claimed pending held settled dropped paid withheld'\n"
                 "            [[ ${COMP_WORDS[1]} == proposals ]] && states='open expired done"
                 " refused rejected withdrawn approved'\n"
                 "            mapfile -t COMPREPLY < <(compgen -W \"$states\" -- \"$word\")\n"
                 "            return ;;\n"
                 "        --format)\n"
                 "            mapfile -t COMPREPLY < <(compgen -W 'txt csv json' -- \"$word\")\n"
                 "            return ;;\n"
                 "        --config | --out | --ca | --certificate | --key | --dir | --to | "
                 "--witness | --journal)\n"
                 "            mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                 "            return ;;\n"
                 "    esac\n"
                 "    case ${COMP_WORDS[1]} in\n"
              << cases
              << "    esac\n"
                 "    if [[ $word == -* ]]; then\n"
                 "        mapfile -t COMPREPLY < <(compgen -W \"$options --help\" -- \"$word\")\n"
                 "    elif ((COMP_CWORD == 2)) && [[ -n $next ]]; then\n"
                 "        mapfile -t COMPREPLY < <(compgen -W \"$next\" -- \"$word\")\n"
                 "    else\n"
                 "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                 "    fi\n"
                 "}\n"
                 "complete -F _jackpotctl jackpotctl\n";
    return EXIT_SUCCESS;
}

}  // namespace jackpot::tools
