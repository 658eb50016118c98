#include "base/encoding.h"

#include <array>
#include <charconv>
#include <limits>

namespace jackpot {
namespace {

constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::uint8_t kNoDigit = 0xFF;

constexpr std::array<std::uint8_t, 256> digitValues(std::string_view digits)
{
    std::array<std::uint8_t, 256> values{};
    values.fill(kNoDigit);
    for (std::size_t i = 0; i < digits.size(); ++i)
        values[static_cast<unsigned char>(digits[i])] = static_cast<std::uint8_t>(i);
    return values;
}

constexpr auto kBase64Values = digitValues(kBase64Digits);
constexpr auto kHexValues = digitValues(kHexDigits);

std::uint32_t byteAt(std::string_view bytes, std::size_t i)
{
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
}

}  // namespace

std::string encodeBase64(std::string_view bytes)
{
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::uint32_t group =
            byteAt(bytes, i) << 16 | byteAt(bytes, i + 1) << 8 | byteAt(bytes, i + 2);
        text += kBase64Digits[group >> 18];
        text += kBase64Digits[group >> 12 & 63];
        text += i + 1 < bytes.size() ? kBase64Digits[group >> 6 & 63] : '=';
        text += i + 2 < bytes.size() ? kBase64Digits[group & 63] : '=';
    }
    return text;
}

Result<std::string> decodeBase64(std::string_view text)
{
    if (text.size() % 4 != 0) return Error{"base64 of a length that is no multiple of four"};
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    const std::string_view digits = text.substr(0, text.size() - padding);

    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    std::uint32_t pending = 0;
    unsigned pendingBits = 0;
    for (const char c : digits) {
        const std::uint32_t value = kBase64Values[static_cast<unsigned char>(c)];
        if (value == kNoDigit) return Error{"a character that is not base64"};
        pending = pending << 6 | value;
        pendingBits += 6;
        if (pendingBits < 8) continue;
        pendingBits -= 8;
        bytes += static_cast<char>(pending >> pendingBits);
        pending &= (1U << pendingBits) - 1;
    }
    if (pending != 0) return Error{"base64 with non-zero bits after its last byte"};
    return bytes;
}

std::string encodeHex(std::string_view bytes)
{
    std::string text;
    text.reserve(bytes.size() * 2);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        text += kHexDigits[byteAt(bytes, i) >> 4];
        text += kHexDigits[byteAt(bytes, i) & 15];
    }
    return text;
}

Result<std::string> decodeHex(std::string_view text)
{
    if (text.size() % 2 != 0) return Error{"an odd number of hex digits"};
    std::string bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const unsigned high = kHexValues[static_cast<unsigned char>(text[i])];
        const unsigned low = kHexValues[static_cast<unsigned char>(text[i + 1])];
        if (high == kNoDigit || low == kNoDigit)
            return Error{"a character that is no lower-case hex digit"};
        bytes += static_cast<char>(high << 4 | low);
    }
    return bytes;
}

Result<std::uint64_t> parseDecimal(std::string_view text)
{
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, value);
    if (text.empty() || stop != end || failure == std::errc::invalid_argument)
        return Error{"not a decimal number"};
    if (failure != std::errc{} || value > std::numeric_limits<std::int64_t>::max())
        return Error{"a number above 2^63 - 1"};
    if (text.size() > 1 && text.front() == '0') return Error{"a number with a leading zero"};
    return value;
}

Result<std::string_view> takeLine(std::string_view& rest)
{
    const std::size_t length = rest.find('\n');
    if (length == std::string_view::npos)
        return Error{rest.empty() ? "it ends too early" : "a last line without its newline"};
    const std::string_view line = rest.substr(0, length);
    rest.remove_prefix(length + 1);
    return line;
}

}  // namespace jackpot
