// jackpotctl reload, status, meters and change-pool: requests to the running daemon over its
// control socket.
#include <rapidjson/document.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>

#include "net/control_socket.h"
#include "storage/command_json.h"
#include "storage/json_read.h"
#include "tools/cli/command_error.h"
#include "tools/cli/output.h"
#include "tools/jackpotctl/commands.h"
#include "tools/jackpotctl/loaded_config.h"

namespace jackpot::ctl {
namespace {

constexpr int kPartly = 1;  // refused, not all applied, or a meter is silent

struct DaemonOptions {
    std::filesystem::path config = kDefaultConfig;
    bool json = false;
    std::string pool;
    std::string reason;
    std::vector<std::string> by;
};

// The request for the daemon: the command in its journal form.
std::string changeRequest(const config::Config& config, const DaemonOptions& options)
{
    const auto pool = std::ranges::find(config.site.pools, options.pool, &rules::PoolConfig::id);
    if (pool == config.site.pools.end())
        throw cli::UsageError{"there is no pool \"" + options.pool + "\" in " +
                              config.file.string()};
    rules::ChangePool change;
    change.pool = options.pool;
    change.to = *pool;
    change.reason = options.reason;
    change.by = options.by;
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

// Prints the daemon's JSON, or a table.
int printMeters(const std::string& text, bool asJson)
{
    rapidjson::Document json;
    json.Parse(text.data(), text.size());
    if (json.HasParseError())
        throw cli::CommandError{cli::kBadInput, "the daemon's answer is not JSON"};
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
    cli::FileOutput out;
    if (asJson)
        out.lines(text);
    else
        table.print(out, "");
    out.flush();
    return silent ? kPartly : cli::kSuccess;
}

// Prints lines of a name and a number as one JSON object.
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

struct Answer {
    bool isGood = false;
    std::string text;
};

Answer sendRequest(const config::Config& config, const std::string& request)
{
    const auto answer = net::askDaemon(config.journal.directory, request);
    if (!answer) throw cli::CommandError{cli::kBadInput, answer.error().message};
    const auto end = answer->find('\n');
    return {answer->starts_with("ok"),
            answer->substr(end == std::string::npos ? answer->size() : end + 1)};
}

int printed(const Answer& answer)
{
    std::cout << answer.text;
    return answer.isGood ? cli::kSuccess : kPartly;
}

int reload(const DaemonOptions& options)
{
    return printed(sendRequest(loadedConfig(options.config), "reload"));
}

int changePool(const DaemonOptions& options)
{
    const config::Config config = loadedConfig(options.config);
    return printed(sendRequest(config, changeRequest(config, options)));
}

int showStatus(const DaemonOptions& options)
{
    const Answer answer = sendRequest(loadedConfig(options.config), "status");
    if (!options.json) return printed(answer);
    printStatus(answer.text);
    return answer.isGood ? cli::kSuccess : kPartly;
}

int showMeters(const DaemonOptions& options)
{
    const Answer answer = sendRequest(loadedConfig(options.config), "meters");
    return answer.isGood ? printMeters(answer.text, options.json) : printed(answer);
}

cli::Command& addDaemonCommand(cli::Command& program, std::shared_ptr<DaemonOptions> options,
                               const std::string& name, const std::string& summary,
                               int (*work)(const DaemonOptions&))
{
    return program.add(name, summary, kDaemonHeading)
        .option("--config FILE", options->config, "the daemon's configuration")
        .run([options, work] { return work(*options); });
}

}  // namespace

void addDaemonCommands(cli::Command& program)
{
    addDaemonCommand(program, std::make_shared<DaemonOptions>(), "reload",
                     "reload the daemon's configuration and certificates", reload)
        .describe(
            "Applies the settings that may change at run time: limits, the log's level, added "
            "pools "
            "and tables, settings of idle tables, meters, certificates and the revocation list. "
            "For "
            "the others it prints the reason; a pool's parameters change only by a command of two "
            "people. SIGHUP does this without an answer.")
        .exitStatuses({{0, "every change was applied"},
                       {1, "a change was not applied"},
                       {2, "no daemon answers, or the command line is wrong"}});

    auto change = std::make_shared<DaemonOptions>();
    addDaemonCommand(program, change, "change-pool",
                     "agree on other parameters of a pool, by two people", changePool)
        .describe(
            "Reads the pool's increment, reserve_increment, minimum, cap, payout_unit, "
            "simultaneity_window_ms and bonus from the configuration file, as two people want them "
            "to be, and has the running daemon journal that. They take effect when the pool next "
            "resets. Agreeing on the present parameters cancels an earlier agreement.")
        .argument("POOL", change->pool)
        .option("--reason TEXT", change->reason, "the reason")
        .option("--by PERSON", change->by, "a person who agrees; two different people are needed")
        .exitStatuses({{0, "agreed"},
                       {1, "refused; the reason is printed"},
                       {2, "no daemon answers, or the command line is wrong"}})
        .example("jackpotctl change-pool B7 --reason \"new season\" --by ann --by ben");

    auto status = std::make_shared<DaemonOptions>();
    addDaemonCommand(program, status, "status", "print the daemon's counters", showStatus)
        .describe(
            "Prints a name and a number per line: connections, commands decided, commits, records, "
            "commands waiting, repeated, rejected, alarms raised, connections rejected, bad "
            "frames, "
            "and how often tables had to wait; then the desk's counters. docs/monitoring.md "
            "describes the metrics for Prometheus.")
        .flag("--json", status->json, "print one JSON object")
        .exitStatuses(
            {{0, "the daemon answered"}, {2, "no daemon answers, or the command line is wrong"}});

    auto meters = std::make_shared<DaemonOptions>();
    addDaemonCommand(program, meters, "meters", "print what each meter shows, and its displays",
                     showMeters)
        .describe(
            "Lists each meter with its pool, the amount and the status that displays receive now, "
            "how often it was read, when last and from which address; for a display that the "
            "daemon "
            "writes to, how often it was written, when last, and the last error. A meter that no "
            "display has read for its configured time is SILENT.")
        .flag("--json", meters->json, "print one JSON object: the counters and the meters")
        .exitStatuses({{0, "all meters are read or written"},
                       {1, "a meter is silent"},
                       {2, "no daemon answers, or the command line is wrong"}});
}

}  // namespace jackpot::ctl
