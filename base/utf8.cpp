#include "base/utf8.h"

#include <cstdint>

namespace jackpot {

std::optional<char32_t> takeCodePoint(std::string_view& rest)
{
    const auto byteAt = [rest](std::size_t i) -> std::uint32_t {
        return static_cast<unsigned char>(rest[i]);
    };
    const std::uint32_t lead = byteAt(0);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xC2 ? 0
                               : lead < 0xE0 ? 2
                               : lead < 0xF0 ? 3
                               : lead < 0xF5 ? 4
                                             : 0;
    if (length == 0 || length > rest.size()) return std::nullopt;

    std::uint32_t point = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const std::uint32_t next = byteAt(i);
        if ((next & 0xC0) != 0x80) return std::nullopt;
        point = point << 6 | (next & 0x3F);
    }
    const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
    const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
    if (overlong || surrogate || point > 0x10FFFF) return std::nullopt;

    rest.remove_prefix(length);
    return static_cast<char32_t>(point);
}

std::size_t findBadUtf8(std::string_view text)
{
    std::string_view rest = text;
    while (!rest.empty())
        if (!takeCodePoint(rest)) return text.size() - rest.size();
    return std::string_view::npos;
}

bool isSpace(char32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

}  // namespace jackpot
