#include "tools/jackpotctl/daemon_command.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "base/printable.h"
#include "config/config.h"
#include "net/control_socket.h"
#include "storage/command_json.h"
#include "storage/json_read.h"
#include "tools/jackpot-audit/cli.h"
#include "tools/jackpot-audit/output.h"

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
  jackpotctl status [--json] [--config FILE]

Prints a name and a number a line: connections, commands decided, commits, records, commands waiting, repeated,
rejected, alarms raised, strangers refused, bad frames, and how often tables were made to wait; then the desk's.
docs/monitoring.md has more, for Prometheus.

Options:
  --json         one JSON object
  --config FILE  the daemon's configuration; /etc/jackpotd/jackpotd.toml unless given
  --help         print this

Exit status: 0 it answered; 2 there is no daemon, or the command line is wrong
)";

constexpr std::string_view kMetersHelp =
    R"(jackpotctl meters - what each meter shows, and who looks at it

Usage:
  jackpotctl meters [--json] [--config FILE]

Lists each meter with its pool, the amount and the status that displays are given now, how often it was read and
when last, by which address; for a display that is driven, how often it was written, when last, and what went wrong.
A meter that nobody saw for its configured time is SILENT.

Options:
  --json         one JSON object: the server's counters and the list of meters
  --config FILE  the daemon's configuration; /etc/jackpotd/jackpotd.toml unless given
  --help         print this

Exit status: 0 all are seen; 1 a meter is silent; 2 there is no daemon, or the command line is wrong
)";

constexpr std::string_view kChangeHelp =
    R"(jackpotctl change-pool - agree on other parameters of a pool, by two people

Usage:
  jackpotctl change-pool POOL --reason TEXT --by WHO --by WHO [--config FILE]

Takes the pool's increment, reserve_increment, minimum, cap, payout_unit, simultaneity_window_ms and bonus from the
configuration file, as two people want them to be, and has the running daemon journal that. They take effect when
the pool next resets. Agreeing on what the pool has already takes an earlier agreement back.

Options:
  --reason TEXT  why
  --by WHO       who agrees; twice, and not the same person
  --config FILE  the daemon's configuration; /etc/jackpotd/jackpotd.toml unless given
  --help         print this

Exit status: 0 it is agreed; 1 it is refused, and the reason is printed; 2 there is no daemon, or the command line
is wrong
)";

// The request for the daemon: the command as the journal will have it.
std::string changeRequest(const config::Config& config, const audit::Arguments& arguments)
{
    const std::string& id = arguments.positional().at(0);
    const auto pool = std::ranges::find(config.site.pools, id, &rules::PoolConfig::id);
    if (pool == config.site.pools.end())
        arguments.refuse("there is no pool \"" + id + "\" in " + config.file.string());
    rules::ChangePool change;
    change.pool = id;
    change.to = *pool;
    change.reason = arguments.value("--reason").value_or("");
    change.by = arguments.values("--by");
    std::string request = "change-pool ";
    storage::JsonText json{request};
    storage::writeCommand(json, change);
    return request;
}

std::string agoInWords(std::int64_t ms)
{
    if (ms < 10'000)
        return std::to_string(ms / 1000) + "." + std::to_string(ms / 100 % 10) + " s ago";
    if (ms < 600'000) return std::to_string(ms / 1000) + " s ago";
    return std::to_string(ms / 60'000) + " min ago";
}

// As the daemon says it in JSON, or as a table for people.
int printMeters(const std::string& text, bool asJson)
{
    rapidjson::Document json;
    json.Parse(text.data(), text.size());
    if (json.HasParseError())
        throw audit::Stop{audit::kBadInput, "the daemon's answer is not JSON"};
    audit::TextTable table{4};
    table.add({"METER", "POOL", "STATUS", "SEEN", "AMOUNT", "COUNT"});
    bool silent = false;
    for (const auto& meter : storage::arrayAt(json, "meters").GetArray()) {
        std::string seen = "never";
        std::string count;
        const auto add = [&](std::string_view key, std::string_view what) {
            if (const auto* value = storage::find(meter, key))
                count += (count.empty() ? "" : ", ") + audit::grouped(value->GetUint64()) + " " +
                         std::string{what};
        };
        add("reads", "reads");
        add("writes", "writes");
        add("errors", "errors");
        if (const auto* ago = storage::find(meter, "last_write_ms_ago"))
            seen = "written " + agoInWords(ago->GetInt64()) + " over " +
                   std::string{storage::textAt(meter, "driven_over")};
        if (const auto* error = storage::find(meter, "last_error");
            error && !storage::flagAt(meter, "answers"))
            seen += ": " + std::string{storage::viewOf(*error)};
        if (const auto* ago = storage::find(meter, "last_read_ms_ago"))
            seen = "read " + agoInWords(ago->GetInt64()) + " by " +
                   std::string{storage::textAt(meter, "last_read_by")};
        if (storage::flagAt(meter, "silent")) {
            silent = true;
            seen = "SILENT, " + seen;
        }

        table.add({std::string{storage::textAt(meter, "meter")},
                   std::string{storage::textAt(meter, "pool")},
                   std::string{storage::textAt(meter, "status")}, seen,
                   rules::toRead(storage::moneyAt(meter, "amount")), count});
    }
    audit::FileOutput out;
    if (asJson)
        out.lines(text);
    else
        table.print(out, "");
    out.flush();
    return silent ? kNotAll : audit::kGood;
}

// Lines of a name and a number as one object.
void printStatus(const std::string& lines)
{
    std::string text;
    storage::JsonText json{text};
    json.beginObject();
    std::istringstream in{lines};
    std::string name;
    for (std::int64_t number = 0; in >> name >> number;) json.numberField(name, number);
    json.endObject();
    std::cout << text << "\n";
}

int ask(const std::string& command, std::string_view help, const std::vector<std::string>& given)
{
    const audit::Arguments arguments{command,
                                     given,
                                     {{"--config", audit::Option::Form::Value},
                                      {"--reason", audit::Option::Form::Value},
                                      {"--by", audit::Option::Form::Values},
                                      {"--json", audit::Option::Form::Flag},
                                      {"--help", audit::Option::Form::Flag}},
                                     "jackpotctl"};
    if (arguments.has("--help")) {
        std::cout << help;
        return audit::kGood;
    }
    const bool isChange = command == "change-pool";
    if (arguments.has("--json") && command != "meters" && command != "status")
        arguments.refuse("only meters and status take --json");
    if (isChange)
        arguments.requirePositional(1, 1, "one POOL");
    else if (arguments.has("--reason") || arguments.has("--by"))
        arguments.refuse("only change-pool takes --reason and --by");
    else
        arguments.requirePositional(0, 0, "no argument but its options");
    const std::filesystem::path file =
        arguments.value("--config").value_or("/etc/jackpotd/jackpotd.toml");
    const auto config = config::load(file);
    if (!config) {
        for (const config::ConfigProblem& problem : config.error())
            std::cerr << inWords(problem) << "\n";
        return audit::kBadInput;
    }
    const auto answer = net::askDaemon(config->journal.directory,
                                       isChange ? changeRequest(*config, arguments) : command);
    if (!answer) throw audit::Stop{audit::kBadInput, answer.error().message};
    const auto end = answer->find('\n');
    const std::string rest = answer->substr(end == std::string::npos ? answer->size() : end + 1);
    if (command == "meters" && answer->starts_with("ok"))
        return printMeters(rest, arguments.has("--json"));
    if (arguments.has("--json"))
        printStatus(rest);
    else
        std::cout << rest;
    return answer->starts_with("ok") ? audit::kGood : kNotAll;
}

}  // namespace

int daemonCommand(const std::string& command, const std::vector<std::string>& given)
{
    try {
        return ask(command,
                   command == "reload"   ? kReloadHelp
                   : command == "status" ? kStatusHelp
                   : command == "meters" ? kMetersHelp
                                         : kChangeHelp,
                   given);
    } catch (const audit::Stop& stop) {
        std::cerr << "jackpotctl: " << printable(stop.what()) << "\n";
        return stop.status();
    }
}

}  // namespace jackpot::tools
