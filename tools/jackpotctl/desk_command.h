// The commands of jackpotctl that work at the claims desk, through its API. Each function declares
// the commands of one subject.
#pragma once

#include "tools/cli/command_line.h"

namespace jackpot::ctl {

inline constexpr char kDeskHeading[] = "The claims desk, from anywhere";
inline constexpr char kClaimsHeading[] = "Claims, rulings and payments";
inline constexpr char kTwoPeopleHeading[] = "Actions that need two people";
inline constexpr char kJournalHeading[] = "The journal, through the desk";

void addPoolAndTableCommands(cli::Command& program);
void addClaimCommands(cli::Command& program);
void addRulingCommands(cli::Command& program);
void addProposalCommands(cli::Command& program);
void addLockCommands(cli::Command& program);
void addRecordCommands(cli::Command& program);

}  // namespace jackpot::ctl
