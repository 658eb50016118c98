#include <CLI/CLI.hpp>

#include "tools/cli/command_line.h"

namespace jackpot::cli {
namespace {

std::string joined(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

// A case of the command's words: what may follow it, its options, and the choices of each option.
std::string caseOf(const Command& command, const std::string& program)
{
    std::string next;
    std::string options;
    std::string choices;
    for (const auto& each : command.commands()) next += each->app().get_name() + " ";
    for (const CLI::Option* option : command.app().get_options()) {
        const auto& values = command.choicesOf(*option);
        if (option->get_positional()) {
            if (next.empty()) next = joined(values);
            continue;
        }
        options += option->get_name() + " ";
        if (!values.empty()) choices += " [" + option->get_name() + "]='" + joined(values) + "'";
    }
    const std::string words =
        command.path().size() > program.size() ? command.path().substr(program.size() + 1) : "";
    return "        '" + words + "') next='" + next + "' options='" + options + "--help" +
           (words.empty() ? " --version" : "") + "' choices=(" + choices + ") ;;\n";
}

void addCases(const Command& command, const std::string& program, std::string& cases)
{
    cases += caseOf(command, program);
    for (const auto& each : command.commands()) addCases(*each, program, cases);
}

}  // namespace

std::string bashCompletion(const Program& program)
{
    const std::string& name = program.root().path();
    std::string cases;
    addCases(program.root(), name, cases);
    std::string groups;
    for (const auto& each : program.root().commands())
        if (!each->commands().empty())
            groups += (groups.empty() ? "" : "|") + each->app().get_name();
    return "# " + name +
           " completion bash\n"
           "_" +
           name +
           "() {\n"
           "    local next='' options='' command='' words=1\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local -A choices=()\n"
           "    if ((COMP_CWORD > 1)); then command=${COMP_WORDS[1]} words=2; fi\n"
           "    if ((COMP_CWORD > 2)) && [[ $command == @(" +
           groups +
           ") ]]; then\n"
           "        command+=\" ${COMP_WORDS[2]}\" words=3\n"
           "    fi\n"
           "    case $command in\n" +
           cases +
           "    esac\n"
           "    if [[ -n $before && -n ${choices[$before]-} ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"${choices[$before]}\" -- \"$word\")\n"
           "    elif [[ $word == -* ]] || ((COMP_CWORD == 1)); then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$next $options\" -- \"$word\")\n"
           "    elif ((COMP_CWORD == words)) && [[ -n $next ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$next\" -- \"$word\")\n"
           "    else\n"
           "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
           "    fi\n"
           "}\n"
           "complete -F _" +
           name + " " + name + "\n";
}

}  // namespace jackpot::cli
