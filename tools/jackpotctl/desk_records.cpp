// jackpotctl records, record, proof and report.
#include "base/printable.h"
#include "storage/json_read.h"
#include "tools/cli/output.h"
#include "tools/jackpotctl/desk_arguments.h"
#include "tools/jackpotctl/desk_command.h"

namespace jackpot::ctl {
namespace {

struct RecordsOptions : DeskOptions {
    std::optional<std::string> kind;
    std::optional<std::string> pool;
    std::optional<std::string> table;
    std::optional<std::uint64_t> round;
    std::optional<std::string> who;
    std::optional<std::string> from;
    std::optional<std::string> to;
    std::optional<std::string> after;
    std::optional<std::string> before;
    std::optional<std::uint64_t> limit;
};

void listRecords(DeskClient& desk, const RecordsOptions& options)
{
    const auto answer = desk.get("/api/v1/records" + queryOf({{"kind", options.kind},
                                                              {"pool", options.pool},
                                                              {"table", options.table},
                                                              {"round", textOf(options.round)},
                                                              {"who", options.who},
                                                              {"from", options.from},
                                                              {"to", options.to},
                                                              {"after", options.after},
                                                              {"before", options.before},
                                                              {"limit", textOf(options.limit)}}));
    desk.show(answer, "records",
              {{"RECORD", "record"},
               {"UTC", "utc"},
               {"KIND", "kind"},
               {"POOL", "pool"},
               {"TABLE", "table"},
               {"ROUND", "round"},
               {"WHO", "who"},
               {"REFUSED", "refused"}});
    printMore(answer);
}

struct RecordOptions : DeskOptions {
    std::uint64_t record = 0;
    std::string file;
};

std::string recordPath(const RecordOptions& options)
{
    return "/api/v1/records/" + std::to_string(options.record);
}

void showRecord(DeskClient& desk, const RecordOptions& options)
{
    const auto answer = desk.get(recordPath(options));
    if (desk.wantsJson()) return desk.show(answer);
    std::string_view words = storage::textAt(answer, "words");
    while (!words.empty()) {
        const auto end = std::min(words.find('\n'), words.size());
        printLine(std::string{words.substr(0, end)});
        words.remove_prefix(std::min(end + 1, words.size()));
    }
}

void writeOut(const std::string& file, std::string_view text)
{
    cli::FileOutput out = file.empty() ? cli::FileOutput{} : cli::FileOutput{file};
    out.write(text);
    out.commit();
}

void writeProof(DeskClient& desk, const RecordOptions& options)
{
    if (options.json) throw cli::UsageError{"a proof has its own format: remove --json"};
    writeOut(options.file, desk.getText(recordPath(options) + "/proof").text);
}

struct ReportOptions : DeskOptions {
    std::string name;
    std::optional<std::string> format;
    std::optional<std::string> pool;
    std::optional<std::string> month;
    std::optional<std::string> from;
    std::optional<std::string> to;
    std::optional<std::string> timezone;
    std::optional<std::uint64_t> last;
    std::string file;
};

void writeReport(DeskClient& desk, const ReportOptions& options)
{
    const std::string format = options.format.value_or(options.json ? "json" : "txt");
    if (options.json && format != "json")
        throw cli::UsageError{"--json and --format " + format + " contradict each other"};
    const auto answer = desk.getText("/api/v1/reports/" + options.name + "." + format +
                                     queryOf({{"pool", options.pool},
                                              {"month", options.month},
                                              {"from", options.from},
                                              {"to", options.to},
                                              {"timezone-offset", options.timezone},
                                              {"last", textOf(options.last)}}));
    writeOut(options.file, answer.text);
    if (!answer.agrees) throw cli::CommandError{kDeskRefused, "the reconciliation does not agree"};
}

void addRecords(cli::Command& program)
{
    auto options = std::make_shared<RecordsOptions>();
    cli::Command& command = program.add("records", "search the journal", kJournalHeading);
    command.describe("Lists the newest record first.")
        .option("--kind KIND", options->kind,
                "only this kind, such as surveillance_ruling; docs/journal-format.md and "
                "docs/desk-routes.md list the kinds")
        .option("--pool POOL", options->pool, "only records about this pool")
        .option("--table TABLE", options->table, "only records about this table")
        .number("--round N", options->round, kAnyNumber, "only records about this round")
        .option("--who NAME", options->who, "only records about this person")
        .option("--from TIME", options->from,
                "only records from this time on: 2026-05-01, 2026-05-01T12:00:00Z or Unix "
                "milliseconds")
        .option("--to TIME", options->to, "only records before this time")
        .number("--limit N", options->limit, kLimits, kLimitHelp)
        .option("--before RECORD", options->before, "continue a long list")
        .option("--after RECORD", options->after, "continue a long list in the other direction");
    runAtDesk(command, options, listRecords);
}

void addReport(cli::Command& program)
{
    auto options = std::make_shared<ReportOptions>();
    cli::Command& command =
        program.add("report", "print a report of jackpot-audit, from the desk", kJournalHeading);
    command
        .describe(R"(Reports:
  wins            the last awards of each pool, each with its rule and
                  arithmetic
  reconciliation  for each pool and day the amounts added, paid and left, and
                  the check that they agree
  differences     payments that differ from what was due by more than $1,000,
                  and the totals of smaller differences

The exit status is also 1 if a reconciliation does not agree. For long periods use jackpot-audit.)")
        .argumentChoice("REPORT", options->name, {"wins", "reconciliation", "differences"})
        .choice("--format FORMAT", options->format, {"txt", "csv", "json"},
                "the format, txt unless given")
        .option("--pool POOL", options->pool, "only this pool")
        .option("--month YYYY-MM", options->month, "only this month; not with --from and --to")
        .option("--from TIME", options->from,
                "only from this time on: 2026-05-01, 2026-05-01T12:00:00Z or Unix milliseconds")
        .option("--to TIME", options->to, "only before this time")
        .option("--timezone-offset +HH:MM", options->timezone,
                "the zone of days, months and times without one; +00:00 (UTC) unless given")
        .number("--last N", options->last, kAnyNumber, "for wins: this many awards of each pool")
        .option("--out FILE", options->file, "write to this new file instead of standard output")
        .example("jackpotctl report reconciliation --month 2026-05");
    runAtDesk(command, options, writeReport);
}

}  // namespace

void addRecordCommands(cli::Command& program)
{
    addRecords(program);

    auto shown = std::make_shared<RecordOptions>();
    cli::Command& record = program.add("record", "print a record in words", kJournalHeading);
    record.describe("--json prints its payload, byte for byte.")
        .argument("RECORD", shown->record, "the number of the record");
    runAtDesk(record, shown, showRecord);

    auto proved = std::make_shared<RecordOptions>();
    cli::Command& proof =
        program.add("proof", "print the proof that a record is in the journal", kJournalHeading);
    proof
        .describe(
            "The format is that of jackpot-audit prove. jackpot-audit check-proof checks the "
            "proof, "
            "without the journal and without trust in this desk.")
        .argument("RECORD", proved->record, "the number of the record")
        .option("--out FILE", proved->file, "write to this new file instead of standard output");
    runAtDesk(proof, proved, writeProof);

    addReport(program);
}

}  // namespace jackpot::ctl
