#include "audit/report.h"
#include "tools/audit_cli.h"
#include "tools/audit_commands.h"
#include "tools/audit_output.h"
#include "tools/audit_period.h"

namespace jackpot::audit {
namespace {

constexpr std::string_view kHelp =
    R"(jackpot-audit report - wins, reconciliation, differences

Usage:
  jackpot-audit report wins|reconciliation|differences [--pool P] [--from TIME] [--to TIME]
                       [--month YYYY-MM] [--timezone-offset +HH:MM] [--last N]
                       [--format text|csv|json] JOURNAL...

  wins            the last awards of each pool, jackpots and others apart, each with its rule and
                  arithmetic; those withdrawn, withheld or paid are marked
  reconciliation  for each pool and day: opening, contributions, returned, seeds, from reserve, paid,
                  adjustments, closing, and the check that they agree, to the last 1e-8 dollar
  differences     payments that differ from what was due by more than $1,000 (BJ 16.21.2, UTH 11.15),
                  and the totals of all smaller differences

Reports say what the records say; "jackpot-audit verify" tells whether the records are right.

Options:
  --pool P               this pool alone
  --from TIME, --to TIME not before, and before: 2026-05-01, 2026-05-01T12:00:00Z or Unix
                         milliseconds
  --month YYYY-MM        the same for a month
  --timezone-offset Z    days, months and times without a zone are of this zone; default +00:00 (UTC)
  --last N               of wins: so many for each pool, at least; default 25
  --format F             text (the default), csv (RFC 4180) or json
  --help                 print this

Exit status:
  0   printed
  1   a record cannot be read, or the reconciliation does not agree
  2   the command line is wrong, or something cannot be read or written
)";

}  // namespace

int reportCommand(const std::vector<std::string>& given)
{
    if (printHelp(given, kHelp)) return kGood;
    const Arguments arguments{"report",
                              given,
                              {kFromOption,
                               kToOption,
                               kMonthOption,
                               kZoneOption,
                               {"--pool", Option::Form::Value},
                               {"--last", Option::Form::Value},
                               {"--format", Option::Form::Value}}};
    arguments.requirePositional(2, kAnyNumber, "wins, reconciliation or differences, and JOURNAL");
    const std::string& name = arguments.positional()[0];
    const Report report = reportOfName(name);
    if (!report)
        arguments.refuse("there is no report \"" + name +
                         "\": it takes wins, reconciliation or differences");
    if (arguments.has("--last") && name != "wins") arguments.refuse("--last is for wins");

    ReportRequest request;
    request.period = periodOf(arguments);
    request.pool = arguments.value("--pool").value_or("");
    request.last = arguments.number("--last", 1, kMaxLast, 25);
    const std::string format = arguments.value("--format").value_or("text");
    if (format != "text" && format != "csv" && format != "json")
        arguments.refuse("--format takes text, csv or json");
    request.form = format == "csv"    ? ReportForm::Csv
                   : format == "json" ? ReportForm::Object
                                      : ReportForm::Text;

    rememberInterrupts();
    Progress progress{"reading"};
    JournalSource journal{arguments.paths(1), JournalSource::kAllFiles,
                          [&](std::uint64_t done, std::uint64_t total) {
                              stopIfInterrupted();
                              done < total ? progress.show(done, total) : progress.clear();
                          }};
    const auto pools = askedPools(journal, request);
    FileOutput out;
    const int status = report(journal, request, pools, out);
    out.commit();
    return status;
}

}  // namespace jackpot::audit
