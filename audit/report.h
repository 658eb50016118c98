// The reports: what they have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/journal_view.h"
#include "audit/output.h"
#include "audit/record.h"
#include "storage/json_text.h"

namespace jackpot::audit {

enum class ReportForm : std::uint8_t { Text, Csv, Object };

inline constexpr std::uint64_t kMaxLast = 100'000;

struct ReportRequest {
    Period period;
    std::string pool;         // empty for all
    std::uint64_t last = 25;  // of wins: so many of each pool
    ReportForm form = ReportForm::Text;
};

// Those asked for, in the order of their configuration; one that is not there is an AuditError.
std::vector<std::string> askedPools(JournalView& journal, const ReportRequest& request);

// Each returns false if the figures of the report do not agree. `pools` are those of askedPools().
bool reportWins(JournalView& journal, const ReportRequest& request,
                const std::vector<std::string>& pools, Output& out);
bool reportReconciliation(JournalView& journal, const ReportRequest& request,
                          const std::vector<std::string>& pools, Output& out);
bool reportDifferences(JournalView& journal, const ReportRequest& request,
                       const std::vector<std::string>& pools, Output& out);

using Report = bool (*)(JournalView&, const ReportRequest&, const std::vector<std::string>&,
                        Output&);
// "wins", "reconciliation", "differences"; nullptr where there is no such report.
Report reportOfName(std::string_view name);

// "Wins, from ... ": the title, and what was read.
void printTitle(Output& out, std::string_view title, const ReportRequest& request,
                const JournalView& journal);

// Opens the object of a JSON report with the fields that all have.
void beginReport(storage::JsonText& json, std::string_view report, const ReportRequest& request,
                 const JournalView& journal);

}  // namespace jackpot::audit
