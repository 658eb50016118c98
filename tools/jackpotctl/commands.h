// The commands of jackpotctl beside those of desk_command.h. Each function declares one or several
// with their options and their work.
#pragma once

#include "tools/cli/command_line.h"

namespace jackpot::ctl {

inline constexpr char kDaemonHeading[] = "The running daemon, on its own machine";
inline constexpr char kDefaultConfig[] = "/etc/jackpotd/jackpotd.toml";

void addSimulate(cli::Command& program);
void addJournalCommands(cli::Command& program);
void addBackupAndRestore(cli::Command& program);
void addPkiCommands(cli::Command& program);
// reload, change-pool, status, meters.
void addDaemonCommands(cli::Command& program);
// login, logout, whoami, users.
void addPeopleCommands(cli::Command& program);

}  // namespace jackpot::ctl
