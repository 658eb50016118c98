// The commands of jackpot-audit. Each function declares one with its options and its work.
#pragma once

#include <string>

#include "tools/cli/command_line.h"

namespace jackpot::auditor {

void addVerify(cli::Command& program);
void addExport(cli::Command& program);
void addProve(cli::Command& program);
void addCheckProof(cli::Command& program);
void addCheckpoint(cli::Command& program);
void addShow(cli::Command& program);
void addTail(cli::Command& program);
void addReport(cli::Command& program);
void addWitness(cli::Command& program);
void addKeygen(cli::Command& program);
void addPubkey(cli::Command& program);

inline constexpr char kJournalHelp[] =
    "the journal's directory, or one or several of its files; a copy, or the one in use";
inline constexpr char kKeyHelp[] =
    "the verifier key that you hold, or @FILE; else JACKPOT_AUDIT_KEY";
inline constexpr char kOptionalKeyHelp[] =
    "check that this key (or @FILE) signed the checkpoint; else JACKPOT_AUDIT_KEY";

// A line on standard error, made printable.
void printNotice(const std::string& message);

}  // namespace jackpot::auditor
