#include "audit/report.h"

#include <memory>
#include <stdexcept>

#include "audit/page.h"
#include "audit/signers.h"
#include "tools/cli/command_error.h"
#include "tools/cli/interrupts.h"
#include "tools/cli/journal_verification.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/cli/verifier_keys.h"
#include "tools/jackpot-audit/commands.h"
#include "tools/jackpot-audit/period_options.h"

namespace jackpot::auditor {

using namespace audit;

namespace {

struct ReportOptions {
    std::vector<std::string> words;  // the report's name and the journal, or the journal alone
    PeriodOptions period;
    std::vector<std::string> keys;
    std::string pool;
    std::string html;
    std::optional<std::uint64_t> last;
    std::optional<std::string> format;
};

const cli::Command::Choices kFormats{"text", "csv", "json"};

std::vector<std::filesystem::path> pathsFrom(const std::vector<std::string>& words,
                                             std::size_t first)
{
    return {words.begin() + static_cast<std::ptrdiff_t>(first), words.end()};
}

int makePage(const ReportOptions& options)
{
    if (options.format) throw cli::UsageError{"--format is not for --html"};
    const std::string& first = options.words[0];
    std::error_code ignored;
    if (reportOfName(first) && !std::filesystem::exists(first, ignored))
        throw cli::UsageError{"--html has all reports: remove \"" + first + "\""};
    PageRequest request;
    request.report.period = readPeriod(options.period);
    request.report.pool = options.pool;
    if (options.last) request.last = *options.last;
    const auto keys = cli::requiredKeys(options.keys);
    for (const storage::Verifier& key : keys) request.keys.push_back(key.format());

    cli::FileOutput out{options.html};
    cli::catchInterrupts();
    cli::Progress progress{"reading"};
    const auto [journal, files, verified] =
        cli::verifyWhole(pathsFrom(options.words, 0), keys, std::nullopt,
                         [&](std::uint64_t done, std::uint64_t total) {
                             cli::throwIfInterrupted();
                             done < total ? progress.show(done, total) : progress.clear();
                         });
    if (journal) request.signers = signersOf(journal->note());
    const bool agrees = writePage(journal.get(), verified, request, out);
    out.commit();
    printNotice(verified ? options.html + ": written; the journal verifies"
                         : options.html + ": written; the journal does NOT verify: " +
                               inWords(verified.error()));
    return agrees ? cli::kSuccess : cli::kDoesNotVerify;
}

int printReport(const ReportOptions& options)
{
    if (!options.keys.empty()) throw cli::UsageError{"--key is for --html"};
    if (options.words.size() < 2)
        throw cli::UsageError{"it takes wins, reconciliation or differences, and JOURNAL"};
    const std::string& name = options.words[0];
    const Report report = reportOfName(name);
    if (!report)
        throw cli::UsageError{"there is no report \"" + name +
                              "\": it takes wins, reconciliation or differences"};
    if (options.last && name != "wins") throw cli::UsageError{"--last is for wins"};

    ReportRequest request;
    request.period = readPeriod(options.period);
    request.pool = options.pool;
    request.last = options.last.value_or(25);
    const std::string format = options.format.value_or("text");
    request.form = format == "csv"    ? ReportForm::Csv
                   : format == "json" ? ReportForm::Object
                                      : ReportForm::Text;

    cli::catchInterrupts();
    cli::Progress progress{"reading"};
    JournalView journal{pathsFrom(options.words, 1), JournalView::kAllFiles,
                        [&](std::uint64_t done, std::uint64_t total) {
                            cli::throwIfInterrupted();
                            done < total ? progress.show(done, total) : progress.clear();
                        }};
    const auto pools = askedPools(journal, request);
    cli::FileOutput out;
    const bool agrees = report(journal, request, pools, out);
    out.commit();
    return agrees ? cli::kSuccess : cli::kDoesNotVerify;
}

// The records may not have been verified, so their amounts can overflow the sum.
template <class Work>
int guardSums(Work&& work)
{
    try {
        return work();
    } catch (const std::overflow_error&) {
        throw AuditError{DoesNotVerify,
                         "the amounts in these records are larger than any real ones: verify the "
                         "journal"};
    }
}

}  // namespace

void addReport(cli::Command& program)
{
    auto options = std::make_shared<ReportOptions>();
    cli::Command& command =
        program.add("report", "report wins, reconciliation or differences, or all on one page");
    command.usage("wins|reconciliation|differences JOURNAL... [OPTIONS]")
        .usage("--html FILE --key VKEY JOURNAL... [OPTIONS]")
        .describe(R"(Reports:
  wins            the last awards of each pool, jackpots and others apart, each
                  with its rule and arithmetic; those withdrawn, withheld or
                  paid are marked
  reconciliation  for each pool and day: opening, contributions, returned,
                  seeds, from reserve, paid, adjustments, closing, and the check
                  that they agree, to the last 1e-8 dollar
  differences     payments that differ from what was due by more than $1,000
                  (BJ 16.21.2, UTH 11.15), and the totals of smaller differences

Reports show what the records contain; "jackpot-audit verify" checks whether the records are right.

With --html the journal is verified as by "jackpot-audit verify", and FILE is one page with the result,
the checkpoint, the pools' history as charts, their parameters, all three reports, changes and
suspensions. It needs no other file and no script, and it can be printed.)")
        .arguments("JOURNAL", options->words, kJournalHelp)
        .option("--pool POOL", options->pool, "only this pool");
    addFromAndTo(command, options->period);
    addMonthAndTimezone(command, options->period);
    command
        .number("--last N", options->last, {1, kMaxLast},
                "for wins: at least this many awards of each pool (default 25); with --html: this "
                "many (default all, but 25 awards other than jackpots if no period is given)")
        .choice("--format FORMAT", options->format, kFormats, "the format, text unless given")
        .option("--html FILE", options->html, "write the page to this new file")
        .option("--key VKEY", options->keys, std::string{"with --html: "} + kKeyHelp)
        .exitStatuses(
            {{0, "printed or written; with --html, the journal verifies"},
             {1,
              "a record cannot be read, or the reconciliation does not agree; with --html, the "
              "journal does not verify: the page is written and shows it"},
             {2, "the command line is wrong, or a file cannot be read or written"}})
        .example("jackpot-audit report wins --month 2026-05 --format csv journal")
        .run([options] {
            return guardSums(
                [&] { return options->html.empty() ? printReport(*options) : makePage(*options); });
        });
}

}  // namespace jackpot::auditor
