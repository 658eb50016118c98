// The commands of jackpot-audit. Each takes its arguments without its own name and returns the
// exit status, or throws a Stop.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace jackpot::audit {

inline constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

int keygenCommand(const std::vector<std::string>& given);
int pubkeyCommand(const std::vector<std::string>& given);
int verifyCommand(const std::vector<std::string>& given);
int exportCommand(const std::vector<std::string>& given);
int proveCommand(const std::vector<std::string>& given);
int checkProofCommand(const std::vector<std::string>& given);
int checkpointCommand(const std::vector<std::string>& given);
int showCommand(const std::vector<std::string>& given);
int tailCommand(const std::vector<std::string>& given);
int witnessCommand(const std::vector<std::string>& given);
int reportCommand(const std::vector<std::string>& given);

// Where --help or -h is asked for, prints the text.
bool printHelp(const std::vector<std::string>& given, std::string_view help);

// A line on standard error, made printable().
void say(const std::string& message);

// The whole program; returns the exit status.
int runAudit(const std::vector<std::string>& arguments, std::string_view version);

}  // namespace jackpot::audit
