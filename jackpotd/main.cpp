// jackpotd: links gaming tables to jackpot pools.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "jackpotd/daemon.h"
#include "jackpotd/log.h"
#include "jackpotd/service.h"

namespace jackpot {
namespace {

constexpr std::string_view kHelp =
    R"(jackpotd - progressive jackpot controller for casino table games

Usage:
  jackpotd [--config FILE]
  jackpotd --check-config [--config FILE]
  jackpotd --help | --version

Links tables to jackpot pools over mutual TLS, decides what they report by the approved rules, and journals
everything, signed, before anyone sees it. It stays in the foreground and logs to systemd's journal, where standard
error is connected to that, else to standard error.

Options:
  --config FILE    the configuration; /etc/jackpotd/jackpotd.toml unless given (config/jackpotd.toml is a sample)
  --check-config   report everything that is wrong with it, and end
  --help           print this

Signals:
  SIGTERM, SIGINT  take no more, settle what is due, commit, say goodbye to the tables, end
  SIGHUP           read the configuration and the certificates again, as jackpotctl reload does

systemd is told when everything is open, how it goes, and that the writer lives (docs/service.md).

Exit status:
  0   ended as asked
  2   it could not start: the configuration, a certificate, or the journal's site and the configuration disagree
  3   the journal can't be written or read: disk full, I/O error. Start again when that is mended
  4   another process has the journal open
  5   the journal does not verify: do not start again before people have looked at it
  6   the journal is signed with another key
  7   a newer version of jackpotd wrote the journal: install that one again
  70  a fault of the program itself

Before the first start: jackpot-audit keygen, jackpotctl journal create, jackpotctl pki init (see README.md).
)";

int refuseToStart(const StartError& error)
{
    std::cerr << "jackpotd: " << error.message << "\n";
    service::setStatus(error.message);
    return error.exitStatus;
}

int refuseToStart(const std::vector<config::ConfigProblem>& problems)
{
    for (const config::ConfigProblem& problem : problems) std::cerr << inWords(problem) << "\n";
    service::setStatus(inWords(problems.front()));
    return kExitCannotStart;
}

int start(const std::vector<std::string>& arguments)
{
    std::filesystem::path file = "/etc/jackpotd/jackpotd.toml";
    bool checkOnly = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (argument == "--help" || argument == "-h") {
            std::cout << kHelp;
            return EXIT_SUCCESS;
        }
        if (argument == "--version") {
            std::cout << "jackpotd " JACKPOT_VERSION "\n";
            return EXIT_SUCCESS;
        }
        if (argument == "--check-config")
            checkOnly = true;
        else if (argument.starts_with("--config="))
            file = argument.substr(std::string_view{"--config="}.size());
        else if (argument == "--config" && i + 1 < arguments.size())
            file = arguments[++i];
        else
            return refuseToStart({"unknown argument " + argument + " (see jackpotd --help)"});
    }
    const auto config = config::load(file);
    if (!config) return refuseToStart(config.error());
    if (checkOnly) {
        std::cout << file.string() << ": good: " << config->site.pools.size() << " pools, "
                  << config->site.tables.size() << " tables\n";
        return EXIT_SUCCESS;
    }

    Log log{config->logLevel};
    const auto daemon = Daemon::start(*config, log);
    if (!daemon) return refuseToStart(daemon.error());
    return (*daemon)->run();
}

}  // namespace
}  // namespace jackpot

int main(int count, char** arguments)
{
    try {
        return jackpot::start({arguments + 1, arguments + count});
    } catch (const std::exception& error) {
        std::cerr << "jackpotd: a fault of the program itself: " << error.what() << "\n";
        return jackpot::kExitFault;
    }
}
