// jackpotctl pools, tables, suspend, resume, notices and acknowledge.
#include "storage/json_read.h"
#include "tools/jackpotctl/desk_arguments.h"
#include "tools/jackpotctl/desk_command.h"

namespace jackpot::ctl {
namespace {

// For a table on the terminal: replaces the list `key` of each row by its length. Counts only the
// entries in `state`, unless it is empty.
void countIn(const DeskClient& desk, rapidjson::Document& answer, const char* list, const char* key,
             std::string_view state)
{
    if (desk.wantsJson()) return;
    (void)storage::arrayAt(answer, list);
    for (auto& row : answer[list].GetArray()) {
        int count = 0;
        for (const auto& each : storage::arrayAt(row, key).GetArray())
            count += state.empty() || cellOf(each, "state") == state ? 1 : 0;
        row[key].SetInt(count);
    }
}

void listPools(DeskClient& desk, const DeskOptions& /*options*/)
{
    auto answer = desk.get("/api/v1/pools");
    countIn(desk, answer, "pools", "confirmations", "");
    desk.show(answer, "pools",
              {{"POOL", "pool"},
               {"GAME", "game"},
               {"SUSPENDED", "suspended"},
               {"WAITING", "confirmations"},
               {"TABLES", "tables"},
               {"DISPLAYED", "displayed", true},
               {"METER", "meter", true},
               {"RESERVE", "reserve", true}});
}

void listTables(DeskClient& desk, const DeskOptions& /*options*/)
{
    auto answer = desk.get("/api/v1/tables");
    countIn(desk, answer, "tables", "due", "due");
    desk.show(answer, "tables",
              {{"TABLE", "table"},
               {"POOL", "pool"},
               {"SEATS", "seats"},
               {"SUSPENDED", "suspended"},
               {"OFFLINE", "offline"},
               {"ROUND", "round.round"},
               {"WAGERS", "round.wagers"},
               {"DUE", "due"}});
}

struct SuspendOptions : DeskOptions {
    std::string kind;
    std::string id;
    std::string reason;
};

void setSuspended(DeskClient& desk, const SuspendOptions& options, const std::string& verb)
{
    const auto answer =
        desk.post("/api/v1/" + options.kind + "s/" + encoded(options.id) + "/" + verb,
                  reasonBody(options.reason));
    if (desk.wantsJson()) return desk.show(answer);
    printLine(options.kind + " " + options.id + " is " +
              (storage::flagAt(answer, "suspended") ? "suspended" : "not suspended"));
}

void suspend(DeskClient& desk, const SuspendOptions& options)
{
    setSuspended(desk, options, "suspend");
}

void resume(DeskClient& desk, const SuspendOptions& options)
{
    setSuspended(desk, options, "resume");
}

struct NoticesOptions : DeskOptions {
    bool all = false;
    std::optional<std::uint64_t> limit;
    std::optional<std::string> before;
};

void listNotices(DeskClient& desk, const NoticesOptions& options)
{
    const auto unacknowledged = options.all ? std::nullopt : std::optional<std::string>{"false"};
    const auto answer = desk.get("/api/v1/notices" + queryOf({{"before", options.before},
                                                              {"limit", textOf(options.limit)},
                                                              {"acknowledged", unacknowledged}}));
    desk.show(answer, "notices",
              {{"NOTICE", "notice"},
               {"UTC", "utc"},
               {"WHOM", "whom"},
               {"RULE", "rule"},
               {"ACKNOWLEDGED BY", "acknowledged_by"},
               {"TEXT", "text"}});
    printMore(answer);
}

struct AcknowledgeOptions : DeskOptions {
    std::string id;
    std::string reason;
};

void acknowledge(DeskClient& desk, const AcknowledgeOptions& options)
{
    const auto answer = desk.post("/api/v1/notices/" + encoded(options.id) + "/acknowledge",
                                  options.reason.empty() ? "{}" : reasonBody(options.reason));
    if (desk.wantsJson()) return desk.show(answer);
    printLine("notice " + options.id + " is acknowledged by " + cellOf(answer, "acknowledged_by") +
              ": " + cellOf(answer, "text"));
}

void addSuspendCommand(cli::Command& program, const std::string& name, const std::string& summary,
                       void (*work)(DeskClient&, const SuspendOptions&))
{
    auto options = std::make_shared<SuspendOptions>();
    cli::Command& command = program.add(name, summary, kDeskHeading);
    command
        .describe(
            "For supervisors, surveillance and inspectors. A suspension is reported to the "
            "inspector (BJ 16.18, UTH 11.11).")
        .argumentChoice("KIND", options->kind, {"table", "pool"})
        .argument("ID", options->id)
        .option("--reason TEXT", options->reason, "the reason")
        .required();
    runAtDesk(command, options, work);
}

}  // namespace

void addPoolAndTableCommands(cli::Command& program)
{
    auto pools = std::make_shared<DeskOptions>();
    cli::Command& poolCommand =
        program.add("pools", "list the pools: displayed amount, meter, reserve", kDeskHeading);
    poolCommand.describe(
        "WAITING is the number of rounds with a pressed button that are pending or held. --json "
        "prints the parameters, the confirmations and the last win as well.");
    runAtDesk(poolCommand, pools, listPools);

    auto tables = std::make_shared<DeskOptions>();
    cli::Command& tableCommand =
        program.add("tables", "list the tables: suspended, offline, present round", kDeskHeading);
    tableCommand.describe(
        "DUE is the number of awards of the table that are neither paid nor withheld.");
    runAtDesk(tableCommand, tables, listTables);

    addSuspendCommand(program, "suspend", "stop accepting jackpot wagers", suspend);
    addSuspendCommand(program, "resume", "accept jackpot wagers again", resume);

    auto notices = std::make_shared<NoticesOptions>();
    cli::Command& noticesCommand =
        program.add("notices", "list the notices to inspectors and surveillance", kDeskHeading);
    noticesCommand
        .describe(
            "Lists the newest first: suspensions, missing or foreign cards, alarms of the daemon "
            "and "
            "payments that differ, if nobody has acknowledged them.")
        .flag("--all", notices->all, "also those that were acknowledged")
        .number("--limit N", notices->limit, kLimits, kLimitHelp)
        .option("--before RECORD", notices->before, "continue a long list");
    runAtDesk(noticesCommand, notices, listNotices);

    auto seen = std::make_shared<AcknowledgeOptions>();
    cli::Command& acknowledgeCommand =
        program.add("acknowledge", "acknowledge a notice", kDeskHeading);
    acknowledgeCommand
        .describe(
            "For inspectors and surveillance. A notice to the inspector alone is acknowledged by "
            "an "
            "inspector.")
        .argument("ID", seen->id, "as jackpotctl notices prints it, such as 17.1")
        .option("--reason TEXT", seen->reason, "a remark");
    runAtDesk(acknowledgeCommand, seen, acknowledge);
}

}  // namespace jackpot::ctl
