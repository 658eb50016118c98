#include "tools/daemon_command.h"

#include <iostream>

#include "config/config.h"
#include "linkproto/control.h"
#include "tools/audit_cli.h"
#include "tools/printable.h"

namespace jackpot::tools {
namespace {

constexpr int kNotAll = 1;

constexpr std::string_view kReloadHelp =
    R"(jackpotctl reload - have the running daemon read its configuration and certificates again

Usage:
  jackpotctl reload [--config FILE]

What may change at run time is applied: limits, the log's level, added pools and tables, settings of idle
tables, meters, certificates and the list of revoked ones. The rest is not, and the reason is printed; a pool's
parameters change only by a command of two people. SIGHUP does the same without an answer.

Options:
  --config FILE  the daemon's configuration; /etc/jackpotd/jackpotd.toml unless given
  --help         print this

Exit status: 0 all of it was applied; 1 something was not; 2 there is no daemon, or the command line is wrong
)";

constexpr std::string_view kStatusHelp =
    R"(jackpotctl status - what the running daemon is doing, in numbers

Usage:
  jackpotctl status [--config FILE]

Prints a name and a number a line: connections, commands decided, commits, commands repeated, rejected,
alarms raised, strangers refused, bad frames, and how often tables were made to wait.

Options:
  --config FILE  the daemon's configuration; /etc/jackpotd/jackpotd.toml unless given
  --help         print this

Exit status: 0 it answered; 2 there is no daemon, or the command line is wrong
)";

int ask(const std::string& command, std::string_view help, const std::vector<std::string>& given)
{
    const audit::Arguments arguments{
        command,
        given,
        {{"--config", audit::Option::Form::Value}, {"--help", audit::Option::Form::Flag}},
        "jackpotctl"};
    if (arguments.has("--help")) {
        std::cout << help;
        return audit::kGood;
    }
    arguments.requirePositional(0, 0, "no argument but its options");
    const std::filesystem::path file =
        arguments.value("--config").value_or("/etc/jackpotd/jackpotd.toml");
    const auto config = config::load(file);
    if (!config) {
        for (const config::ConfigProblem& problem : config.error())
            std::cerr << inWords(problem) << "\n";
        return audit::kBadInput;
    }
    const auto answer = linkproto::askDaemon(config->journal.directory, command);
    if (!answer) throw audit::Stop{audit::kBadInput, answer.error().message};
    const auto end = answer->find('\n');
    std::cout << answer->substr(end == std::string::npos ? answer->size() : end + 1);
    return answer->starts_with("ok") ? audit::kGood : kNotAll;
}

}  // namespace

int daemonCommand(const std::string& command, const std::vector<std::string>& given)
{
    try {
        return ask(command, command == "reload" ? kReloadHelp : kStatusHelp, given);
    } catch (const audit::Stop& stop) {
        std::cerr << "jackpotctl: " << printable(stop.what()) << "\n";
        return stop.status();
    }
}

}  // namespace jackpot::tools
