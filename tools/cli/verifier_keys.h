// The verifier keys that a command trusts.
#pragma once

#include <string>
#include <vector>

#include "storage/keys.h"
#include "tools/cli/command_line.h"

namespace jackpot::cli {

inline constexpr std::string_view kKeySpec = "--key VKEY";

// The keys given with --key, or else in JACKPOT_AUDIT_KEY: each is a key, @FILE, or a file that
// holds keys, one per line. Empty if none is given. A CommandError if one cannot be read.
std::vector<storage::Verifier> trustedKeys(const std::vector<std::string>& given);
// Like trustedKeys(), but at least one; else a UsageError.
std::vector<storage::Verifier> requiredKeys(const std::vector<std::string>& given);

}  // namespace jackpot::cli
