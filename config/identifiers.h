// The form of names in the configuration and in certificates.
#pragma once

#include <string_view>

#include "base/result.h"

namespace jackpot::config {

// Ids of tables, pools, pay tables and meters become file names and names in certificates. A
// display shows the first 16 characters.
inline constexpr std::size_t kMaxIdBytes = 32;
inline constexpr std::size_t kMaxSiteNameBytes = 128;

// True for a letter or digit, followed by letters, digits, "-", "_" and ".".
Result<void> checkId(std::string_view id);

// A key name of C2SP signed-note: UTF-8, not empty, without spaces, control characters and plus
// signs.
Result<void> checkSiteName(std::string_view name);

// The text in quotation marks, shortened, with a question mark for each character that is not
// printable ASCII.
std::string inQuotes(std::string_view text);

}  // namespace jackpot::config
