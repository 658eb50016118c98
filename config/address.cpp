#include "config/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "config/identifiers.h"

namespace jackpot::config {
namespace {

constexpr std::size_t kMaxHostBytes = 253;  // RFC 1035
constexpr int kMappedBits = 96;             // prefix of an IPv4 address that is mapped to IPv6

// The number of the decimal digits, at most `most`, without a leading zero.
std::optional<std::uint32_t> smallNumber(std::string_view digits, std::uint32_t most)
{
    std::uint32_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, number);
    if (digits.empty() || error != std::errc{} || stopped != end || number > most)
        return std::nullopt;
    if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
    return number;
}

// The 16 bytes of the IPv6 address; an IPv4 address is mapped to IPv6.
std::optional<IpAddress> addressOf(std::string_view text, int family)
{
    IpAddress bytes{};
    if (family == AF_INET) bytes[10] = bytes[11] = 0xff;
    std::uint8_t* const at = bytes.data() + (family == AF_INET ? kMappedBits / 8 : 0);
    if (::inet_pton(family, std::string{text}.c_str(), at) != 1) return std::nullopt;
    return bytes;
}

bool isHostName(std::string_view text)
{
    if (text.empty() || text.size() > kMaxHostBytes) return false;
    const std::size_t dot = text.rfind('.');
    const std::string_view last = dot == std::string_view::npos ? text : text.substr(dot + 1);
    // A name whose last label has only digits is a mistyped address (RFC 3696).
    if (last.find_first_not_of("0123456789") == std::string_view::npos) return false;
    while (true) {
        const std::size_t end = text.find('.');
        const std::string_view label = text.substr(0, end);
        if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-')
            return false;
        if (!std::ranges::all_of(label, [](char c) {
                return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-';
            }))
            return false;
        if (end == std::string_view::npos) return true;
        text.remove_prefix(end + 1);
    }
}

Endpoint endpointOf(const Value& value, const std::string& text, const Endpoint& otherwise)
{
    if (text.empty()) return otherwise;
    const auto found = endpointIn(text);
    if (!found)
        value.error(inQuotes(text) +
                    " is not an address and port: it takes \"127.0.0.1:7707\", "
                    "\"host.example:7707\" or, for IPv6, \"[::1]:7707\", with a port up to 65535");
    return found.value_or(otherwise);
}

}  // namespace

std::optional<Endpoint> endpointIn(std::string_view text)
{
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string_view host = text.substr(0, colon);
    const auto port = smallNumber(text.substr(colon + 1), 65'535);
    const bool bracketed = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
    const std::string_view bare = bracketed ? host.substr(1, host.size() - 2) : host;
    const bool fine = bracketed ? addressOf(bare, AF_INET6).has_value()
                                : addressOf(bare, AF_INET) || isHostName(bare);
    if (!port || !fine) return std::nullopt;
    return Endpoint{std::string{bare}, static_cast<std::uint16_t>(*port)};
}

Endpoint endpoint(const Value& value, const Endpoint& otherwise)
{
    return endpointOf(value, value.text(), otherwise);
}

Endpoint endpointOrInherited(const Value& value, const Endpoint& otherwise)
{
    constexpr std::string_view kPrefix = "systemd:";
    const std::string text = value.text();
    if (!text.starts_with(kPrefix)) return endpointOf(value, text, otherwise);
    Endpoint found{"", 0, text.substr(kPrefix.size())};
    if (checkId(found.inherited)) return found;
    value.error(
        inQuotes(text) +
        " names no socket: it takes \"systemd:\" and what FileDescriptorName= says, such as "
        "\"systemd:modbus\"");
    return otherwise;
}

std::optional<Network> networkOf(std::string_view text)
{
    const std::size_t slash = text.find('/');
    const std::string_view address = text.substr(0, slash);
    const bool isV4 = address.find(':') == std::string_view::npos;
    const auto bytes = addressOf(address, isV4 ? AF_INET : AF_INET6);
    const std::uint32_t most = isV4 ? 32 : 128;
    const auto length = slash == std::string_view::npos ? std::optional{most}
                                                        : smallNumber(text.substr(slash + 1), most);
    if (!bytes || !length) return std::nullopt;
    const int prefix = static_cast<int>(*length) + (isV4 ? kMappedBits : 0);
    for (int bit = prefix; bit < 128; ++bit)
        if (((*bytes)[static_cast<std::size_t>(bit / 8)] >> (7 - bit % 8) & 1) != 0)
            return std::nullopt;
    return Network{*bytes, prefix};
}

bool contains(const std::vector<Network>& networks, std::string_view address)
{
    const auto one = networkOf(address);
    if (!one || one->prefix != 128) return false;
    return std::ranges::any_of(
        networks, [&](const Network& network) { return network.contains(one->address); });
}

std::vector<Network> thisMachine() { return {*networkOf("127.0.0.0/8"), *networkOf("::1")}; }

bool isLoopback(const Endpoint& endpoint)
{
    return endpoint.host == "localhost" || endpoint.host == "::1" ||
           (endpoint.host.starts_with("127.") && addressOf(endpoint.host, AF_INET));
}

}  // namespace jackpot::config
