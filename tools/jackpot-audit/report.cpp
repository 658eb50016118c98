#include "audit/report.h"

#include "audit/page.h"
#include "tools/jackpot-audit/cli.h"
#include "tools/jackpot-audit/commands.h"
#include "tools/jackpot-audit/output.h"
#include "tools/jackpot-audit/period.h"
#include "tools/jackpot-audit/verification.h"

namespace jackpot::audit {
namespace {

constexpr std::string_view kHelp =
    R"(jackpot-audit report - wins, reconciliation, differences, or all on a page

Usage:
  jackpot-audit report wins|reconciliation|differences [--pool P] [--from TIME] [--to TIME]
                       [--month YYYY-MM] [--timezone-offset +HH:MM] [--last N]
                       [--format text|csv|json] JOURNAL...
  jackpot-audit report --html FILE --key VKEY [--pool P] [--from TIME] [--to TIME]
                       [--month YYYY-MM] [--timezone-offset +HH:MM] [--last N] JOURNAL...

  wins            the last awards of each pool, jackpots and others apart, each with its rule and
                  arithmetic; those withdrawn, withheld or paid are marked
  reconciliation  for each pool and day: opening, contributions, returned, seeds, from reserve, paid,
                  adjustments, closing, and the check that they agree, to the last 1e-8 dollar
  differences     payments that differ from what was due by more than $1,000 (BJ 16.21.2, UTH 11.15),
                  and the totals of all smaller differences

Reports say what the records say; "jackpot-audit verify" tells whether the records are right.

With --html the journal is verified as by "jackpot-audit verify", and FILE is one page with the result,
the checkpoint, the pools' history as charts, their parameters, all three reports, changes and
suspensions. It needs no other file and no script, and is made to be printed.

Options:
  --pool P               this pool alone
  --from TIME, --to TIME not before, and before: 2026-05-01, 2026-05-01T12:00:00Z or Unix
                         milliseconds
  --month YYYY-MM        the same for a month
  --timezone-offset Z    days, months and times without a zone are of this zone; default +00:00 (UTC)
  --last N               of wins: so many for each pool, at least; default 25. Of the page: as
                         many; default all, but 25 awards other than jackpots where no period is given
  --format F             text (the default), csv (RFC 4180) or json
  --html FILE            write the page to this new file
  --key VKEY             of the page: the verifier key that you hold, or @FILE; several allowed; else
                         JACKPOT_AUDIT_KEY
  --help                 print this

Exit status:
  0   printed or written; with --html, the journal verifies
  1   a record cannot be read, or the reconciliation does not agree; with --html, the journal does not
      verify: the page is written and says so
  2   the command line is wrong, or something cannot be read or written
)";

int makePage(const Arguments& arguments, const Period& period)
{
    arguments.requirePositional(1, kAnyNumber, "JOURNAL");
    if (arguments.has("--format")) arguments.refuse("--format is not for --html");
    const std::string& first = arguments.positional()[0];
    std::error_code ignored;
    if (reportOfName(first) && !std::filesystem::exists(first, ignored))
        arguments.refuse("--html has all reports: leave out \"" + first + "\"");
    PageRequest request;
    request.report.period = period;
    request.report.pool = arguments.value("--pool").value_or("");
    if (arguments.has("--last")) request.last = arguments.number("--last", 1, kMaxLast, 0);
    const auto keys = requiredKeys(arguments);
    for (const storage::Verifier& key : keys) request.keys.push_back(key.format());

    const std::string file = *arguments.value("--html");
    FileOutput out{file};
    rememberInterrupts();
    Progress progress{"reading"};
    const auto [journal, files, verified] = verifyWhole(
        arguments.paths(0), keys, std::nullopt, [&](std::uint64_t done, std::uint64_t total) {
            stopIfInterrupted();
            done < total ? progress.show(done, total) : progress.clear();
        });
    if (journal) request.signers = signersOf(journal->note());
    const int status = writePage(journal.get(), verified, request, out);
    out.commit();
    say(verified ? file + ": written; the journal verifies"
                 : file + ": written; the journal does NOT verify: " + inWords(verified.error()));
    return status;
}

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
                               kKeyOption,
                               {"--html", Option::Form::Value},
                               {"--pool", Option::Form::Value},
                               {"--last", Option::Form::Value},
                               {"--format", Option::Form::Value}}};
    if (arguments.has("--html")) return makePage(arguments, periodOf(arguments));
    if (arguments.has("--key")) arguments.refuse("--key is for --html");
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
    JournalView journal{arguments.paths(1), JournalView::kAllFiles,
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
