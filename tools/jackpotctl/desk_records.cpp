// jackpotctl records, record, proof and report.
#include "base/printable.h"
#include "storage/json_read.h"
#include "tools/jackpot-audit/output.h"
#include "tools/jackpotctl/desk_arguments.h"
#include "tools/jackpotctl/desk_command.h"

namespace jackpot::tools {
namespace {

using audit::Arguments;
using Form = audit::Option::Form;

constexpr std::string_view kRecordsHelp =
    R"(jackpotctl records - search the journal, the newest first

Usage:
  jackpotctl records [--kind KIND] [--pool POOL] [--table TABLE] [--round N] [--who NAME]
                     [--from TIME] [--to TIME] [--limit N]

Options:
  --kind KIND         such as surveillance_ruling; docs/journal-format.md and docs/desk-routes.md list them
  --pool POOL, --table TABLE, --round N, --who NAME
                      those that are about them
  --from TIME, --to TIME
                      not before, and before: 2026-05-01, 2026-05-01T12:00:00Z or Unix milliseconds
  --limit N           at most so many, 100 unless given and at most 500
  --before RECORD, --after RECORD
                      the next of a long list
)";

constexpr std::string_view kRecordHelp =
    R"(jackpotctl record - all that a record says, in words

Usage:
  jackpotctl record RECORD

--json has its payload, byte for byte.

Options:
)";

constexpr std::string_view kProofHelp =
    R"(jackpotctl proof - the proof that a record is in the journal

Usage:
  jackpotctl proof RECORD [--out FILE]

As jackpot-audit prove writes it; jackpot-audit check-proof checks it, without the journal and without trust in this
desk.

Options:
  --out FILE          into a new file, instead of standard output
)";

constexpr std::string_view kReportHelp =
    R"(jackpotctl report - the reports of jackpot-audit, from the desk

Usage:
  jackpotctl report wins|reconciliation|differences [--format txt|csv|json] [--pool POOL] [--month YYYY-MM]
                    [--from TIME] [--to TIME] [--timezone-offset +HH:MM] [--last N] [--out FILE]

  wins            the last awards of each pool, each with its rule and arithmetic
  reconciliation  for each pool and day what came in, went out and is there, and the check that they agree
  differences     payments that differ from what was due by more than $1,000, and the totals of smaller ones

The exit status is 1 also for a reconciliation that does not agree. For long periods use jackpot-audit.

Options:
  --format F          txt (the default), csv (RFC 4180) or json; --json is the same as --format json
  --pool POOL         this pool alone
  --month YYYY-MM, --from TIME, --to TIME
                      of this time alone: 2026-05-01, 2026-05-01T12:00:00Z or Unix milliseconds
  --timezone-offset Z days, months and times without a zone are of this zone; +00:00 (UTC) unless given
  --last N            of wins: so many for each pool
  --out FILE          into a new file, instead of standard output
)";

void records(DeskClient& desk, const Arguments& arguments)
{
    const auto answer =
        desk.get("/api/v1/records" +
                 queryOf(arguments, {"--kind", "--pool", "--table", "--round", "--who", "--from",
                                     "--to", "--after", "--before", "--limit"}));
    desk.show(answer, "records",
              {{"RECORD", "record"},
               {"UTC", "utc"},
               {"KIND", "kind"},
               {"POOL", "pool"},
               {"TABLE", "table"},
               {"ROUND", "round"},
               {"WHO", "who"},
               {"REFUSED", "refused"}});
    sayMore(answer);
}

std::string recordPath(const Arguments& arguments)
{
    return "/api/v1/records/" +
           std::to_string(wholeNumber(arguments, "record", arguments.positional()[0]));
}

void record(DeskClient& desk, const Arguments& arguments)
{
    const auto answer = desk.get(recordPath(arguments));
    if (desk.wantsJson()) return desk.show(answer);
    std::string_view words = storage::textAt(answer, "words");
    while (!words.empty()) {
        const auto end = std::min(words.find('\n'), words.size());
        say(std::string{words.substr(0, end)});
        words.remove_prefix(std::min(end + 1, words.size()));
    }
}

void writeOut(const Arguments& arguments, std::string_view text)
{
    if (const auto file = arguments.value("--out")) {
        audit::FileOutput out{*file};
        out.write(text);
        return out.commit();
    }
    audit::FileOutput out;
    out.write(text);
    out.commit();
}

void proof(DeskClient& desk, const Arguments& arguments)
{
    if (arguments.has("--json"))
        arguments.refuse("a proof has a form of its own: leave out --json");
    writeOut(arguments, desk.getText(recordPath(arguments) + "/proof").text);
}

void report(DeskClient& desk, const Arguments& arguments)
{
    const std::string& name = arguments.positional()[0];
    const std::string format =
        arguments.value("--format").value_or(desk.wantsJson() ? "json" : "txt");
    if (name != "wins" && name != "reconciliation" && name != "differences")
        arguments.refuse("there is no report \"" + name +
                         "\": it takes wins, reconciliation or differences");
    if (format != "txt" && format != "csv" && format != "json")
        arguments.refuse("--format takes txt, csv or json");
    if (desk.wantsJson() && format != "json")
        arguments.refuse("--json and --format " + format + " contradict each other");
    const auto answer = desk.getText(
        "/api/v1/reports/" + name + "." + format +
        queryOf(arguments, {"--pool", "--month", "--from", "--to", "--timezone-offset", "--last"}));
    writeOut(arguments, answer.text);
    if (!answer.agrees) throw audit::Stop{kDeskRefused, "the reconciliation does not agree"};
}

}  // namespace

std::vector<DeskCommand> recordCommands()
{
    return {
        {"records",
         kRecordsHelp,
         {{"--kind", Form::Value},
          {"--pool", Form::Value},
          {"--table", Form::Value},
          {"--round", Form::Value},
          {"--who", Form::Value},
          {"--from", Form::Value},
          {"--to", Form::Value},
          {"--limit", Form::Value},
          {"--before", Form::Value},
          {"--after", Form::Value}},
         0,
         0,
         "no argument but its options",
         records,
         ""},
        {"record", kRecordHelp, {}, 1, 1, "one RECORD, its number", record, ""},
        {"proof", kProofHelp, {{"--out", Form::Value}}, 1, 1, "one RECORD, its number", proof, ""},
        {"report",
         kReportHelp,
         {{"--format", Form::Value},
          {"--pool", Form::Value},
          {"--month", Form::Value},
          {"--from", Form::Value},
          {"--to", Form::Value},
          {"--timezone-offset", Form::Value},
          {"--last", Form::Value},
          {"--out", Form::Value}},
         1,
         1,
         "wins, reconciliation or differences",
         report,
         "wins reconciliation differences"},
    };
}

}  // namespace jackpot::tools
