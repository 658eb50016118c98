// Text from outside on its way to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace jackpot::tools {

// Control characters (also those of two bytes, U+0080 to U+009F) become a question mark each, so
// that no file can move a reader's cursor.
inline std::string printable(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool second =
            byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
        if (byte < 0x20 || byte == 0x7F || second) {
            out += '?';
            if (second) ++i;
        } else {
            out += text[i];
        }
    }
    return out;
}

}  // namespace jackpot::tools
