// jackpotctl pools, tables, suspend, resume, notices and acknowledge.
#include "storage/json_read.h"
#include "tools/jackpotctl/desk_arguments.h"
#include "tools/jackpotctl/desk_command.h"

namespace jackpot::ctl {
namespace {

// The number of entries of the list `key` that are in `state`; of all, if it is empty.
int countOf(const rapidjson::Value& row, const char* key, std::string_view state)
{
    int count = 0;
    for (const auto& each : storage::arrayAt(row, key).GetArray())
        count += state.empty() || cellOf(each, "state") == state ? 1 : 0;
    return count;
}

// For a table on the terminal: replaces the list `key` of each row by its length. Counts only the
// entries in `state`, unless it is empty.
void countIn(const DeskClient& desk, rapidjson::Document& answer, const char* list, const char* key,
             std::string_view state)
{
    if (desk.wantsJson()) return;
    (void)storage::arrayAt(answer, list);
    for (auto& row : answer[list].GetArray()) {
        const int count = countOf(row, key, state);
        row[key].SetInt(count);
    }
}

void listPools(DeskClient& desk, const DeskOptions& /*options*/)
{
    auto answer = desk.get("/api/v1/pools");
    if (!desk.wantsJson())
        for (auto& row : answer["pools"].GetArray())
            row.AddMember("held", rapidjson::Value{countOf(row, "wins", "held")},
                          answer.GetAllocator());
    countIn(desk, answer, "pools", "wins", "");
    desk.show(answer, "pools",
              {{"POOL", "pool"},
               {"GAME", "game"},
               {"SUSPENDED", "suspended"},
               {"WINS", "wins"},
               {"HELD", "held"},
               {"TABLES", "tables"},
               {"DISPLAYED", "displayed", true},
               {"METER", "meter", true},
               {"RESERVE", "reserve", true}});
}

void listTables(DeskClient& desk, const DeskOptions& /*options*/)
{
    auto answer = desk.get("/api/v1/tables");
    countIn(desk, answer, "tables", "awards", "due");
    desk.show(answer, "tables",
              {{"TABLE", "table"},
               {"POOL", "pool"},
               {"SEATS", "seats"},
               {"SUSPENDED", "suspended"},
               {"GROUND", "suspension.ground"},
               {"OFFLINE", "offline"},
               {"ROUND", "round.round"},
               {"DUE", "awards"}});
}

struct SuspendOptions : DeskOptions {
    std::string kind;
    std::string id;
    std::optional<std::string> ground;
    std::string reason;
};

void setSuspended(DeskClient& desk, const SuspendOptions& options, const std::string& verb,
                  const std::string& body)
{
    const auto answer =
        desk.post("/api/v1/" + options.kind + "s/" + encoded(options.id) + "/" + verb, body);
    if (desk.wantsJson()) return desk.show(answer);
    printLine(options.kind + " " + options.id + " is " +
              (storage::flagAt(answer, "suspended") ? "suspended" : "not suspended"));
}

void suspend(DeskClient& desk, const SuspendOptions& options)
{
    const bool isTable = options.kind == "table";
    if (isTable != options.ground.has_value())
        throw cli::UsageError{isTable ? "a table takes --ground" : "--ground is only for a table"};
    if (!isTable && options.reason.empty()) throw cli::UsageError{"a pool takes --reason"};
    setSuspended(
        desk, options, "suspend",
        isTable ? groundBody(*options.ground, options.reason) : reasonBody(options.reason));
}

void resume(DeskClient& desk, const SuspendOptions& options)
{
    setSuspended(desk, options, "resume", reasonBody(options.reason));
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
               {"KIND", "kind"},
               {"TO", "to"},
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

void addSuspendAndResume(cli::Command& program)
{
    auto options = std::make_shared<SuspendOptions>();
    cli::Command& command = program.add("suspend", "stop accepting jackpot wagers", kDeskHeading);
    command
        .describe(
            "For supervisors, surveillance and inspectors. A malfunction (BJ 16.18, UTH 11.11) is "
            "reported to the inspector, and a round without a result is void. A table is closed "
            "(BJ 18.13) or in a tournament (BJ 19) only between rounds. A table cannot end what "
            "the desk has suspended. A pool refuses new rounds; what is under way goes on.")
        .argumentChoice("KIND", options->kind, {"table", "pool"})
        .argument("ID", options->id)
        .choice("--ground GROUND", options->ground, {"malfunction", "closed", "tournament"},
                "for a table: the ground")
        .option("--reason TEXT", options->reason, "the reason; required for a pool")
        .example("jackpotctl suspend table BJ01 --ground malfunction");
    runAtDesk(command, options, suspend);

    auto resumed = std::make_shared<SuspendOptions>();
    cli::Command& resumeCommand =
        program.add("resume", "accept jackpot wagers again", kDeskHeading);
    resumeCommand.describe("For supervisors, surveillance and inspectors.")
        .argumentChoice("KIND", resumed->kind, {"table", "pool"})
        .argument("ID", resumed->id)
        .option("--reason TEXT", resumed->reason, "the reason")
        .required();
    runAtDesk(resumeCommand, resumed, resume);
}

}  // namespace

void addPoolAndTableCommands(cli::Command& program)
{
    auto pools = std::make_shared<DeskOptions>();
    cli::Command& poolCommand =
        program.add("pools", "list the pools: displayed amount, meter, reserve", kDeskHeading);
    poolCommand.describe(
        "WINS is the number of wins that are not final, HELD that of those that wait for a ruling. "
        "--json prints the wins, the parameters and the last win as well.");
    runAtDesk(poolCommand, pools, listPools);

    auto tables = std::make_shared<DeskOptions>();
    cli::Command& tableCommand =
        program.add("tables", "list the tables: suspended, offline, present round", kDeskHeading);
    tableCommand.describe("DUE is the number of awards of the table that are due.");
    runAtDesk(tableCommand, tables, listTables);

    addSuspendAndResume(program);

    auto notices = std::make_shared<NoticesOptions>();
    cli::Command& noticesCommand =
        program.add("notices", "list the notices to inspectors and surveillance", kDeskHeading);
    noticesCommand
        .describe(
            "Lists the newest first: held jackpots, late presses, malfunctions, missing or foreign "
            "cards, alarms of the daemon and payments that differ, if nobody has acknowledged "
            "them.")
        .flag("--all", notices->all, "also those that were acknowledged")
        .number("--limit N", notices->limit, kLimits, kLimitHelp)
        .option("--before RECORD", notices->before, "continue a long list");
    runAtDesk(noticesCommand, notices, listNotices);

    auto seen = std::make_shared<AcknowledgeOptions>();
    cli::Command& acknowledgeCommand =
        program.add("acknowledge", "acknowledge a notice", kDeskHeading);
    acknowledgeCommand
        .describe(
            "For inspectors and surveillance: a person whom the notice is addressed to "
            "acknowledges it.")
        .argument("ID", seen->id, "as jackpotctl notices prints it, such as 17.1")
        .option("--reason TEXT", seen->reason, "a remark");
    runAtDesk(acknowledgeCommand, seen, acknowledge);
}

}  // namespace jackpot::ctl
