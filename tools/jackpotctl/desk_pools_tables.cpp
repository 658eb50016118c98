// jackpotctl pools, tables, suspend, resume, notices and acknowledge.
#include "storage/json_read.h"
#include "tools/jackpotctl/desk_arguments.h"
#include "tools/jackpotctl/desk_command.h"

namespace jackpot::tools {
namespace {

using audit::Arguments;
using Form = audit::Option::Form;

constexpr std::string_view kPoolsHelp =
    R"(jackpotctl pools - the pools: what they show, hold and wait for

Usage:
  jackpotctl pools

WAITING is the number of pressed rounds that are pending or held. --json has the parameters, the confirmations and
the last win as well.

Options:
)";

constexpr std::string_view kTablesHelp =
    R"(jackpotctl tables - the tables: suspended, offline, the present round and what is due there

Usage:
  jackpotctl tables

DUE is the number of awards of the table that are neither paid nor withheld.

Options:
)";

constexpr std::string_view kSuspendHelp =
    R"(jackpotctl suspend - take no more jackpot wagers at a table or for a pool

Usage:
  jackpotctl suspend table TABLE --reason TEXT
  jackpotctl suspend pool POOL --reason TEXT

For supervisors, surveillance and inspectors. The inspector has a notice of it (BJ 16.18, UTH 11.11).

Options:
  --reason TEXT       why
)";

constexpr std::string_view kResumeHelp =
    R"(jackpotctl resume - take jackpot wagers again

Usage:
  jackpotctl resume table TABLE --reason TEXT
  jackpotctl resume pool POOL --reason TEXT

For supervisors, surveillance and inspectors.

Options:
  --reason TEXT       why
)";

constexpr std::string_view kNoticesHelp =
    R"(jackpotctl notices - what the house's people are to know of, the newest first

Usage:
  jackpotctl notices [--all]

Suspensions, missing or foreign cards, alarms of the daemon and payments that differ, which nobody has acknowledged.

Options:
  --all               also those that were acknowledged
  --limit N           at most so many, 100 unless given and at most 500
  --before RECORD     the next of a long list
)";

constexpr std::string_view kAcknowledgeHelp =
    R"(jackpotctl acknowledge - have seen a notice; for inspectors and surveillance

Usage:
  jackpotctl acknowledge ID [--reason TEXT]

ID is as jackpotctl notices shows, such as 17.1. What is to an inspector alone, an inspector acknowledges.

Options:
  --reason TEXT       a remark
)";

// For people, how many there are instead of all about them; of `state` alone, unless it is empty.
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

void pools(DeskClient& desk, const Arguments& /*arguments*/)
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

void tables(DeskClient& desk, const Arguments& /*arguments*/)
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

void setSuspended(DeskClient& desk, const Arguments& arguments, const std::string& verb)
{
    const auto& words = arguments.positional();
    if (words[0] != "table" && words[0] != "pool")
        arguments.refuse("there is no \"" + words[0] + "\": it takes table or pool");
    const auto answer = desk.post("/api/v1/" + words[0] + "s/" + encoded(words[1]) + "/" + verb,
                                  reasonBody(arguments));
    if (desk.wantsJson()) return desk.show(answer);
    say(words[0] + " " + words[1] + " is " +
        (storage::flagAt(answer, "suspended") ? "suspended" : "not suspended"));
}

void suspend(DeskClient& desk, const Arguments& arguments)
{
    setSuspended(desk, arguments, "suspend");
}

void resume(DeskClient& desk, const Arguments& arguments)
{
    setSuspended(desk, arguments, "resume");
}

void notices(DeskClient& desk, const Arguments& arguments)
{
    std::string query = queryOf(arguments, {"--before", "--limit"});
    if (!arguments.has("--all"))
        query += (query.empty() ? "?" : "&") + std::string{"acknowledged=false"};
    const auto answer = desk.get("/api/v1/notices" + query);
    desk.show(answer, "notices",
              {{"NOTICE", "notice"},
               {"UTC", "utc"},
               {"WHOM", "whom"},
               {"RULE", "rule"},
               {"ACKNOWLEDGED BY", "acknowledged_by"},
               {"TEXT", "text"}});
    sayMore(answer);
}

void acknowledge(DeskClient& desk, const Arguments& arguments)
{
    const std::string& id = arguments.positional()[0];
    const auto answer = desk.post("/api/v1/notices/" + encoded(id) + "/acknowledge",
                                  arguments.has("--reason") ? reasonBody(arguments) : "{}");
    if (desk.wantsJson()) return desk.show(answer);
    say("notice " + id + " is acknowledged by " + cellOf(answer, "acknowledged_by") + ": " +
        cellOf(answer, "text"));
}

}  // namespace

std::vector<DeskCommand> houseCommands()
{
    constexpr std::string_view kNone = "no argument but its options";
    constexpr std::string_view kPlace = "table or pool, and its name";
    return {
        {"pools", kPoolsHelp, {}, 0, 0, kNone, pools, ""},
        {"tables", kTablesHelp, {}, 0, 0, kNone, tables, ""},
        {"suspend", kSuspendHelp, {kReasonOption}, 2, 2, kPlace, suspend, "table pool"},
        {"resume", kResumeHelp, {kReasonOption}, 2, 2, kPlace, resume, "table pool"},
        {"notices",
         kNoticesHelp,
         {{"--all", Form::Flag}, {"--limit", Form::Value}, {"--before", Form::Value}},
         0,
         0,
         kNone,
         notices,
         ""},
        {"acknowledge", kAcknowledgeHelp, {kReasonOption}, 1, 1, "one ID", acknowledge, ""},
    };
}

}  // namespace jackpot::tools
