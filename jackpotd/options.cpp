#include "jackpotd/options.h"

#include "jackpotd/exit_status.h"
#include "tools/cli/command_line.h"

namespace jackpot {

int runWithOptions(const std::vector<std::string>& arguments, const std::string& version,
                   const std::function<int(const Options&)>& start)
{
    Options options;
    cli::Program program{"jackpotd", version,
                         "progressive jackpot controller for casino table games"};
    program.setFaultStatus(kExitFault);
    program.root()
        .usage("[--config FILE]")
        .usage("--check-config [--config FILE]")
        .usage("--help | --version")
        .describe(
            R"(Connects tables to jackpot pools over mutual TLS, decides their commands by the approved rules,
and journals every decision, signed, before it is sent. It stays in the foreground and logs to
systemd's journal if standard error is connected to it, else to standard error.

Signals:
  SIGTERM, SIGINT  accept no more commands, settle what is due, commit, send
                   the tables a Goodbye, exit
  SIGHUP           read the configuration and the certificates again, as
                   jackpotctl reload does

The daemon notifies systemd when it is ready, of its status, and of a live writer
(docs/service.md).

Before the first start: jackpot-audit keygen, jackpotctl journal create, jackpotctl pki init (see
README.md).)")
        .option("--config FILE", options.config,
                "the configuration; config/jackpotd.toml is a sample")
        .flag("--check-config", options.checkOnly, "report every problem of it, and exit")
        .exitStatuses(
            {{0, "stopped by a signal"},
             {2,
              "it could not start: a problem of the configuration or a certificate, or the journal "
              "was made with another site"},
             {3,
              "the journal cannot be written or read: disk full, I/O error. Start again when that "
              "is "
              "repaired"},
             {4, "another process has the journal open"},
             {5, "the journal does not verify: do not start again before people have examined it"},
             {6, "the journal is signed with another key"},
             {7, "a newer version of jackpotd wrote the journal: install that version"},
             {70, "a fault of the program itself"}})
        .run([&] { return start(options); });
    return program.run(arguments);
}

}  // namespace jackpot
