// Describes records in words: one line each, or one record in full. Texts of the journal are
// unchanged; the caller passes them through printable() before printing.
#pragma once

#include <string>
#include <vector>

#include "audit/output.h"
#include "audit/record.h"

namespace jackpot::audit {

// "B1 round 17 seat 3, Royal flush"
std::string awardOf(const rules::AwardRef& ref);
// "B1 round 17 seat 3, Royal flush, card p-5f0c, $50,000.00 [UTH 11.4]"
std::string awardInWords(const storage::RecordedAward& award);

// "B1 round 17 opened, jackpot wagers on seats 1, 2"; for any kind of record.
std::string happenedInWords(const Payload& payload);

// How a record changes parameters or the site: "parameters of B7 agreed for the next reset: ...".
std::vector<std::string> changesInWords(const Payload& payload);

// "  17  2026-05-01 12:00:00.123  round_opened  B1 round 17 ...; award ...; meter ..."
std::string oneLine(const Payload& payload);

// The record, what it did and what the pools then are.
void printRecord(const Payload& payload, Output& out);

}  // namespace jackpot::audit
