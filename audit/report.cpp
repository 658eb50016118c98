#include "audit/report.h"

#include <algorithm>

namespace jackpot::audit {
namespace {

std::vector<std::string> poolsOf(JournalView& journal)
{
    std::vector<std::string> pools;
    const auto start = journal.startBefore(journal.end());
    for (const rules::Pool& pool : start.state.pools) pools.push_back(pool.config.id);
    Payload record;
    journal.forEach(start.seq, journal.end(), [&](std::uint64_t seq, std::string_view payload) {
        // Most records need not be parsed for this.
        if (payload.find(R"("kind":"site_configured")") == std::string_view::npos) return true;
        record.parse(seq, payload);
        if (record.commandAs<rules::ConfigureSite>())
            for (const storage::RecordedPool& pool : record.outcome().pools)
                if (std::ranges::find(pools, pool.pool) == pools.end()) pools.push_back(pool.pool);
        return true;
    });
    return pools;
}

}  // namespace

std::vector<std::string> askedPools(JournalView& journal, const ReportRequest& request)
{
    std::vector<std::string> pools = poolsOf(journal);
    if (request.pool.empty()) return pools;
    if (std::ranges::find(pools, request.pool) != pools.end()) return {request.pool};
    std::string known;
    for (const std::string& pool : pools) known += (known.empty() ? "" : ", ") + pool;
    throw AuditError{Unreadable, "there is no pool \"" + request.pool +
                                     "\" in the journal: it has " +
                                     (known.empty() ? "none" : known)};
}

void printTitle(Output& out, std::string_view title, const ReportRequest& request,
                const JournalView& journal)
{
    out.line(std::string{title} + ": " + request.period.inWords());
    out.line("From records " + std::to_string(journal.first()) + " to " +
             std::to_string(journal.end() - 1) + " of " + journal.checkpoint().origin +
             ", as recorded. Use jackpot-audit verify to check them.");
}

void beginReport(storage::JsonText& json, std::string_view report, const ReportRequest& request,
                 const JournalView& journal)
{
    json.beginObject();
    json.textField("report", report);
    if (request.period.hasFrom) json.textField("from", isoTime(request.period.fromMs));
    if (request.period.hasTo) json.textField("to", isoTime(request.period.toMs));
    json.textField("zone", request.period.zone());
    json.textField("journal", journal.checkpoint().origin);
    json.numberField("size", static_cast<std::int64_t>(journal.end()));
}

Report reportOfName(std::string_view name)
{
    if (name == "wins") return reportWins;
    if (name == "reconciliation") return reportReconciliation;
    if (name == "differences") return reportDifferences;
    return nullptr;
}

}  // namespace jackpot::audit
