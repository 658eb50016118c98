#include "base/json_string.h"

#include "base/utf8.h"

namespace jackpot {
namespace {

constexpr bool isPlain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

void appendEscaped(std::string& out, char c)
{
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
    } else {
        out += "\\u00";
        out += kHex[code >> 4U];
        out += kHex[code & 15U];
    }
}

}  // namespace

bool appendJsonString(std::string& out, std::string_view text)
{
    bool isFaithful = true;
    out += '"';
    while (!text.empty()) {
        std::size_t plain = 0;
        while (plain < text.size() && isPlain(text[plain])) ++plain;
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) break;
        if (static_cast<unsigned char>(text[0]) < 0x80) {
            appendEscaped(out, text[0]);
            text.remove_prefix(1);
            continue;
        }
        std::string_view rest = text;
        if (takeCodePoint(rest)) {
            out += text.substr(0, text.size() - rest.size());
            text = rest;
        } else {
            out += "\xEF\xBF\xBD";
            text.remove_prefix(1);
            isFaithful = false;
        }
    }
    out += '"';
    return isFaithful;
}

}  // namespace jackpot
