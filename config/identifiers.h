// What names in the configuration and in certificates may look like.
#pragma once

#include <string_view>

#include "base/result.h"

namespace jackpot::config {

// Ids of tables, pools, pay tables and meters become file names and names in certificates. A display
// shows the first 16 characters.
inline constexpr std::size_t kMaxIdBytes = 32;
inline constexpr std::size_t kMaxSiteNameBytes = 128;

// A letter or digit, then letters, digits, "-", "_" and ".".
Result<void> checkId(std::string_view id);

// As C2SP signed-note wants key names, which storage insists on: UTF-8, not empty, without spaces,
// control characters and plus signs.
Result<void> checkSiteName(std::string_view name);

// In quotation marks, shortened, and with a question mark for what is not printable ASCII.
std::string inQuotes(std::string_view text);

}  // namespace jackpot::config
