#include "config/names.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace jackpot::config {
namespace {

bool isLetterOrDigit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool isSpace(char32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

// Takes one code point off the front; nothing where that is not UTF-8.
std::optional<char32_t> takeCodePoint(std::string_view& text)
{
    const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    std::size_t length = 1;
    char32_t point = first;
    if (first >= 0xF0 && first <= 0xF4) {
        length = 4;
        point = first & 0x07U;
    } else if (first >= 0xE0 && first < 0xF0) {
        length = 3;
        point = first & 0x0FU;
    } else if (first >= 0xC2 && first < 0xE0) {
        length = 2;
        point = first & 0x1FU;
    } else if (first >= 0x80) {
        return std::nullopt;
    }
    if (text.size() < length) return std::nullopt;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) return std::nullopt;
        point = (point << 6U) | (byte(i) & 0x3FU);
    }
    const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
    if (overlong || (point >= 0xD800 && point <= 0xDFFF) || point > 0x10FFFF) return std::nullopt;
    text.remove_prefix(length);
    return point;
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

std::size_t findBadUtf8(std::string_view text)
{
    std::string_view rest = text;
    while (!rest.empty())
        if (!takeCodePoint(rest)) return text.size() - rest.size();
    return std::string_view::npos;
}

std::string inQuotes(std::string_view text)
{
    constexpr std::size_t kShown = 40;
    std::string out = "\"";
    for (const char c : text.substr(0, kShown)) out += (c >= ' ' && c <= '~') ? c : '?';
    return out + (text.size() > kShown ? "...\"" : "\"");
}

}  // namespace jackpot::config
