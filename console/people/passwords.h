// Passwords as they are kept: scrypt (RFC 7914) with a salt of its own each. Any thread; each call
// takes tens of milliseconds and 32 MiB.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jackpot::console {

inline constexpr std::size_t kMinPasswordBytes = 12;
inline constexpr std::size_t kMaxPasswordBytes = 1024;

// Why it may not be this person's password, or nothing.
Result<void> checkPassword(std::string_view password, std::string_view name);

// "scrypt$15$8$1$SALT$HASH": log2 N, r, p, base64. Throws std::runtime_error where OpenSSL fails.
std::string hashPassword(std::string_view password);
// The same time for every password. False where what is kept is not of that form.
bool isPassword(std::string_view password, std::string_view kept);
// It was made with less than hashPassword() takes now.
bool isOutdated(std::string_view kept);

// Lower-case hexadecimal digits of so many random bytes, for tokens.
std::string randomHex(std::size_t bytes);

}  // namespace jackpot::console
