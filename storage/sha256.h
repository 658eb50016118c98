// SHA-256 by OpenSSL. Any thread: each keeps a context of its own, made at its first hash.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jackpot::storage {

struct Hash {
    std::array<std::uint8_t, 32> bytes{};

    static Result<Hash> fromBytes(std::string_view bytes);
    static Result<Hash> fromBase64(std::string_view text);

    // Lives as long as the hash.
    std::string_view view() const noexcept;
    std::string base64() const;
    std::string hex() const;

    bool operator==(const Hash&) const = default;
};

// The hash of the parts, one after the other. Throws std::runtime_error where OpenSSL offers no
// SHA-256.
Hash sha256(std::initializer_list<std::string_view> parts);

}  // namespace jackpot::storage
