// jackpotctl reload, status, meters and change-pool.
#include <rapidjson/document.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "storage/command_json.h"
#include "storage/json_read.h"
#include "tools/cli/command_error.h"
#include "tools/cli/output.h"
#include "tools/jackpotctl/commands.h"
#include "tools/jackpotctl/desk_client.h"
#include "tools/jackpotctl/loaded_config.h"

namespace jackpot::ctl {
namespace {

constexpr int kPartly = 1;  // refused, not all applied, or a meter is silent

struct DaemonOptions : DeskOptions {
    DaemonOptions() { config = kDefaultConfig; }
    std::string pool;
    std::string reason;
    std::vector<std::string> by;
};

// The command in its journal form.
std::string agreementOf(const DaemonOptions& options)
{
    const config::Config config = loadedConfig(options.config);
    const auto pool = std::ranges::find(config.site.pools, options.pool, &rules::PoolConfig::id);
    if (pool == config.site.pools.end())
        throw cli::UsageError{"there is no pool \"" + options.pool + "\" in " +
                              config.file.string()};
    rules::ChangePool change;
    change.pool = options.pool;
    change.to = *pool;
    change.reason = options.reason;
    change.by = options.by;
    std::string body;
    storage::JsonText json{body};
    storage::writeCommand(json, change);
    return body;
}

std::string agoInWords(std::int64_t ms)
{
    if (ms < 10'000)
        return std::to_string(ms / 1000) + "." + std::to_string(ms / 100 % 10) + " s ago";
    if (ms < 600'000) return std::to_string(ms / 1000) + " s ago";
    return std::to_string(ms / 60'000) + " min ago";
}

int showMeters(DeskClient& daemon, const DaemonOptions& /*options*/)
{
    const auto json = daemon.get("/api/v1/meters");
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
    if (daemon.wantsJson()) {
        daemon.show(json);
    } else {
        cli::FileOutput out;
        table.print(out, "");
        out.flush();
    }
    return silent ? kPartly : cli::kSuccess;
}

void showStatus(DeskClient& daemon, const DaemonOptions& /*options*/)
{
    const auto answer = daemon.get("/api/v1/status");
    if (daemon.wantsJson()) return daemon.show(answer);
    for (const auto& each : answer.GetObject())
        std::cout << storage::viewOf(each.name) << " " << each.value.GetInt64() << "\n";
}

int reload(DeskClient& daemon, const DaemonOptions& /*options*/)
{
    const auto answer = daemon.post("/api/v1/reload", "");
    const auto print = [&](std::string_view key, std::string_view before) {
        const auto& lines = storage::arrayAt(answer, key);
        for (const auto& each : lines.GetArray())
            std::cout << before << storage::viewOf(each) << "\n";
        return !lines.Empty();
    };
    const bool hasProblems = print("problems", "");
    (void)print("applied", "applied: ");
    return print("not_applied", "not applied: ") || hasProblems ? kPartly : cli::kSuccess;
}

int changePool(DeskClient& daemon, const DaemonOptions& options)
{
    try {
        daemon.post("/api/v1/pools/" + encoded(options.pool) + "/agreements", agreementOf(options));
    } catch (const DeskRefusal& refusal) {
        if (refusal.status() != kDeskRefused) throw;
        std::cout << refusal.what() << "\n";
        return kPartly;
    }
    std::cout << "agreed: it takes effect when the pool next resets\n";
    return cli::kSuccess;
}

}  // namespace

void addDaemonCommands(cli::Command& program)
{
    auto reloaded = std::make_shared<DaemonOptions>();
    cli::Command& reloadCommand =
        program.add("reload", "reload the daemon's configuration and certificates", kDaemonHeading);
    reloadCommand
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
    addSocketOptions(reloadCommand, *reloaded);
    runWithDesk(reloadCommand, reloaded, reload);

    auto change = std::make_shared<DaemonOptions>();
    cli::Command& changeCommand = program.add(
        "change-pool", "agree on other parameters of a pool, by two people", kDaemonHeading);
    changeCommand
        .describe(
            "Reads the pool's increment, reserve_increment, minimum, cap, payout_unit, "
            "simultaneity_window_ms, settle_after_ms, bonus and guarantee from the configuration "
            "file, as two people want them "
            "to be, and has the running daemon journal that. They take effect when the pool next "
            "resets. Agreeing on the present parameters cancels an earlier agreement.")
        .argument("POOL", change->pool)
        .option("--reason TEXT", change->reason, "the reason")
        .option("--by PERSON", change->by, "a person who agrees; two different people are needed")
        .option("--config FILE", change->config, "the daemon's configuration")
        .exitStatuses({{0, "agreed"},
                       {1, "refused; the reason is printed"},
                       {2, "no daemon answers, or the command line is wrong"}})
        .example("jackpotctl change-pool B7 --reason \"new season\" --by ann --by ben");
    runWithDesk(changeCommand, change, changePool);

    auto status = std::make_shared<DaemonOptions>();
    cli::Command& statusCommand =
        program.add("status", "print the daemon's counters", kDaemonHeading);
    statusCommand.describe(
        "Prints a name and a number per line: connections, commands decided, commits, records, "
        "commands waiting, repeated, rejected, alarms raised, connections rejected, bad "
        "frames, "
        "and how often tables had to wait; then the desk's counters. docs/monitoring.md "
        "describes the metrics for Prometheus.");
    runAtDesk(statusCommand, status, showStatus);

    auto meters = std::make_shared<DaemonOptions>();
    cli::Command& metersCommand =
        program.add("meters", "print what each meter shows, and its displays", kDaemonHeading);
    metersCommand.describe(
        "Lists each meter with its pool, the amount and the status that displays receive now, "
        "how often it was read, when last and from which address; for a display that the "
        "daemon "
        "writes to, how often it was written, when last, and the last error. A meter that no "
        "display has read for its configured time is SILENT.");
    runAtDesk(metersCommand, meters, showMeters);
    metersCommand.exitStatuses({{0, "all meters are read or written"},
                                {1, "a meter is silent"},
                                {2, "no daemon answers, or the command line is wrong"},
                                {3, "not signed in (see jackpotctl login)"},
                                {4, "try again later"}});
}

}  // namespace jackpot::ctl
