#include "config/identifiers.h"

#include <algorithm>
#include <string>

#include "base/utf8.h"

namespace jackpot::config {
namespace {

bool isLetterOrDigit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

Result<void> checkId(std::string_view id)
{
    const bool fine = !id.empty() && id.size() <= kMaxIdBytes && isLetterOrDigit(id.front()) &&
                      std::ranges::all_of(id, [](char c) {
                          return isLetterOrDigit(c) || c == '-' || c == '_' || c == '.';
                      });
    if (fine) return {};
    return Error{inQuotes(id) + " is not an id: it takes 1 to " + std::to_string(kMaxIdBytes) +
                 " letters, digits, \"-\", \"_\" or \".\" (A to Z, no accents), the first a "
                 "letter or digit"};
}

Result<void> checkSiteName(std::string_view name)
{
    if (name.empty() || name.size() > kMaxSiteNameBytes)
        return Error{"a name has 1 to " + std::to_string(kMaxSiteNameBytes) + " bytes"};
    while (!name.empty()) {
        const auto c = takeCodePoint(name);
        if (!c) return Error{"the name is not UTF-8"};
        if (isSpace(*c)) return Error{"the name contains a space"};
        if (*c < 0x20 || (*c >= 0x7F && *c < 0xA0))
            return Error{"the name contains a control character"};
        if (*c == '+') return Error{"the name contains a plus sign"};
    }
    return {};
}

std::string inQuotes(std::string_view text)
{
    constexpr std::size_t kShown = 40;
    std::string out = "\"";
    for (const char c : text.substr(0, kShown)) out += (c >= ' ' && c <= '~') ? c : '?';
    return out + (text.size() > kShown ? "...\"" : "\"");
}

}  // namespace jackpot::config
