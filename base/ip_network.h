// IP addresses and networks as bytes, for access lists. An IPv4 address is mapped to IPv6:
// 10.1.2.3 is ::ffff:10.1.2.3, and 10.0.0.0/8 has a prefix of 104 bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace jackpot {

using IpAddress = std::array<std::uint8_t, 16>;

struct IpNetwork {
    IpAddress address{};
    int prefix = 128;  // bits that an address in the network shares with `address`

    [[nodiscard]] constexpr bool contains(const IpAddress& other) const
    {
        const auto whole = static_cast<std::size_t>(prefix / 8);
        for (std::size_t i = 0; i < whole; ++i)
            if (address[i] != other[i]) return false;
        const int bits = prefix % 8;
        if (bits == 0) return true;
        return (address[whole] ^ other[whole]) >> (8 - bits) == 0;
    }
    bool operator==(const IpNetwork&) const = default;
};

}  // namespace jackpot
