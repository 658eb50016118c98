// The reports: what they have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/json_text.h"
#include "tools/audit_output.h"
#include "tools/audit_record.h"
#include "tools/audit_source.h"

namespace jackpot::audit {

enum class ReportForm : std::uint8_t { Text, Csv, Object };

struct ReportRequest {
    Period period;
    std::string pool;  // empty for all
    std::uint64_t last = 25;
    ReportForm form = ReportForm::Text;
};

// Each returns the exit status. `pools` are those asked for, in the order of their configuration.
int reportWins(JournalSource& journal, const ReportRequest& request,
               const std::vector<std::string>& pools, Output& out);
int reportReconciliation(JournalSource& journal, const ReportRequest& request,
                         const std::vector<std::string>& pools, Output& out);
int reportDifferences(JournalSource& journal, const ReportRequest& request,
                      const std::vector<std::string>& pools, Output& out);

// "Wins, from ... ": the title, and what was read.
void printTitle(Output& out, std::string_view title, const ReportRequest& request,
                const JournalSource& journal);

// Opens the object of a JSON report with the fields that all have.
void beginReport(storage::JsonText& json, std::string_view report, const ReportRequest& request,
                 const JournalSource& journal);

}  // namespace jackpot::audit
