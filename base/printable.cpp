#include "base/printable.h"

#include <cstdint>

#include "base/utf8.h"

namespace jackpot {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

void appendHex(std::string& out, std::uint32_t number, int digits)
{
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kHex[number >> shift & 15U];
}

// C1 controls, line separators and Unicode's bidirectional controls, with which a name could make a
// line look like another.
bool steersTerminal(char32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

}  // namespace

std::string printable(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        std::string_view rest = text;
        const auto point = takeCodePoint(rest);
        if (!point) {
            out += "\\x";
            appendHex(out, static_cast<unsigned char>(text[0]), 2);
            text.remove_prefix(1);
            continue;
        }
        if (!steersTerminal(*point)) {
            out += text.substr(0, text.size() - rest.size());
        } else if (*point < 0x80) {
            out += "\\x";
            appendHex(out, *point, 2);
        } else {
            out += "\\u";
            appendHex(out, *point, 4);
        }
        text = rest;
    }
    return out;
}

}  // namespace jackpot
