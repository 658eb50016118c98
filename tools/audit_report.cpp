#include "tools/audit_report.h"

#include <algorithm>

#include "storage/command_json.h"
#include "storage/record.h"
#include "tools/audit_cli.h"
#include "tools/audit_commands.h"

namespace jackpot::audit {
namespace {

constexpr std::uint64_t kMaxLast = 100'000;

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

using Report = int (*)(JournalSource&, const ReportRequest&, const std::vector<std::string>&,
                       Output&);

std::vector<std::string> poolsOf(JournalSource& journal)
{
    std::vector<std::string> pools;
    const auto start = journal.startBefore(journal.end());
    for (const rules::Pool& pool : start.state.pools) pools.push_back(pool.config.id);
    Payload record;
    journal.forEach(start.seq, journal.end(), [&](std::uint64_t seq, std::string_view payload) {
        // Most records need not be parsed for this.
        if (payload.find(R"("kind":"site_configured")") == std::string_view::npos) return true;
        record.parse(seq, payload);
        if (record.kind() != "site_configured") return true;
        record.forEach("pools", [&](const Json& each) {
            const std::string_view pool = storage::textAt(each, "pool");
            if (std::ranges::find(pools, pool) == pools.end()) pools.emplace_back(pool);
        });
        return true;
    });
    return pools;
}

std::vector<std::string> askedPools(JournalSource& journal, const ReportRequest& request)
{
    std::vector<std::string> pools = poolsOf(journal);
    if (request.pool.empty()) return pools;
    if (std::ranges::find(pools, request.pool) != pools.end()) return {request.pool};
    std::string known;
    for (const std::string& pool : pools) known += (known.empty() ? "" : ", ") + pool;
    throw Stop{kBadInput, "there is no pool \"" + request.pool + "\" in the journal: it has " +
                              (known.empty() ? "none" : known)};
}

}  // namespace

void printTitle(Output& out, std::string_view title, const ReportRequest& request,
                const JournalSource& journal)
{
    out.line(std::string{title} + ": " + request.period.inWords());
    out.line("From records " + std::to_string(journal.first()) + " to " +
             std::to_string(journal.end() - 1) + " of " + journal.checkpoint().origin +
             ", as they say; whether they are right, jackpot-audit verify tells.");
}

void beginReport(storage::JsonText& json, std::string_view report, const ReportRequest& request,
                 const JournalSource& journal)
{
    json.beginObject();
    json.textField("report", report);
    if (request.period.hasFrom) json.textField("from", isoTime(request.period.fromMs));
    if (request.period.hasTo) json.textField("to", isoTime(request.period.toMs));
    json.textField("zone", request.period.zone());
    json.textField("journal", journal.checkpoint().origin);
    json.numberField("size", static_cast<std::int64_t>(journal.end()));
}

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
    Report report = nullptr;
    if (name == "wins") report = reportWins;
    if (name == "reconciliation") report = reportReconciliation;
    if (name == "differences") report = reportDifferences;
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
    JournalSource journal{arguments.paths(1)};
    const auto pools = askedPools(journal, request);
    Output out;
    const int status = report(journal, request, pools, out);
    out.commit();
    return status;
}

}  // namespace jackpot::audit
