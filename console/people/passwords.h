// Password hashing with scrypt (RFC 7914) and a random salt per password. Any thread; each hash
// takes tens of milliseconds and 32 MiB.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jackpot::console {

inline constexpr std::size_t kMinPasswordBytes = 12;
inline constexpr std::size_t kMaxPasswordBytes = 1024;

// An error if the password is too short, too long, not UTF-8 or equal to the person's name.
Result<void> checkPassword(std::string_view password, std::string_view name);

// "scrypt$15$8$1$SALT$HASH": log2 N, r, p, base64. Throws std::runtime_error if OpenSSL fails.
std::string hashPassword(std::string_view password);
// Takes the same time for every password. False if `stored` is malformed.
bool verifyPassword(std::string_view password, std::string_view stored);
// True if `stored` was made with other cost parameters than hashPassword() uses now.
bool needsRehash(std::string_view stored);

// Random bytes as lower-case hexadecimal digits, for tokens.
std::string randomHex(std::size_t bytes);

}  // namespace jackpot::console
