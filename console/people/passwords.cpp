#include "console/people/passwords.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/encoding.h"
#include "base/utf8.h"

namespace jackpot::console {
namespace {

constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kHashBytes = 32;

struct Cost {
    std::uint64_t logN = 15;
    std::uint64_t r = 8;
    std::uint64_t p = 1;

    bool operator==(const Cost&) const = default;
};

struct StoredHash {
    Cost cost;
    std::string salt;
    std::string hash;
};

std::optional<StoredHash> parse(std::string_view text)
{
    std::vector<std::string> parts{""};
    for (const char c : text) {
        if (c == '$')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    if (parts.size() != 6 || parts[0] != "scrypt") return std::nullopt;
    const auto logN = parseDecimal(parts[1]);
    const auto r = parseDecimal(parts[2]);
    const auto p = parseDecimal(parts[3]);
    auto salt = decodeBase64(parts[4]);
    auto hash = decodeBase64(parts[5]);
    if (!logN || !r || !p || !salt || !hash) return std::nullopt;
    // A damaged file must not make scrypt use all memory.
    if (*logN < 1 || *logN > 20 || *r < 1 || *r > 16 || *p < 1 || *p > 16) return std::nullopt;
    if (salt->empty() || hash->size() != kHashBytes) return std::nullopt;
    return StoredHash{{*logN, *r, *p}, std::move(*salt), std::move(*hash)};
}

std::string scrypt(std::string_view password, std::string_view salt, const Cost& cost)
{
    constexpr std::uint64_t kMaxMemoryBytes = 1ULL << 31U;
    std::string hash(kHashBytes, '\0');
    if (EVP_PBE_scrypt(password.data(), password.size(),
                       reinterpret_cast<const unsigned char*>(salt.data()), salt.size(),
                       1ULL << cost.logN, cost.r, cost.p, kMaxMemoryBytes,
                       reinterpret_cast<unsigned char*>(hash.data()), hash.size()) != 1)
        throw std::runtime_error{"OpenSSL cannot compute scrypt"};
    return hash;
}

std::string randomBytes(std::size_t count)
{
    std::string bytes(count, '\0');
    if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1)
        throw std::runtime_error{"OpenSSL cannot provide random bytes"};
    return bytes;
}

}  // namespace

Result<void> checkPassword(std::string_view password, std::string_view name)
{
    if (password.size() < kMinPasswordBytes) return Error{"the password is shorter than 12 bytes"};
    if (password.size() > kMaxPasswordBytes) return Error{"the password is longer than 1024 bytes"};
    if (!isUtf8(password)) return Error{"the password is not UTF-8"};
    if (password == name) return Error{"the password is the person's name"};
    return {};
}

std::string hashPassword(std::string_view password)
{
    const Cost cost;
    const std::string salt = randomBytes(kSaltBytes);
    return "scrypt$" + std::to_string(cost.logN) + "$" + std::to_string(cost.r) + "$" +
           std::to_string(cost.p) + "$" + encodeBase64(salt) + "$" +
           encodeBase64(scrypt(password, salt, cost));
}

bool verifyPassword(std::string_view password, std::string_view stored)
{
    const auto parsed = parse(stored);
    if (!parsed || password.size() > kMaxPasswordBytes) return false;
    const std::string hash = scrypt(password, parsed->salt, parsed->cost);
    return CRYPTO_memcmp(hash.data(), parsed->hash.data(), kHashBytes) == 0;
}

bool needsRehash(std::string_view stored)
{
    const auto parsed = parse(stored);
    return parsed && parsed->cost != Cost{};
}

std::string randomHex(std::size_t bytes) { return encodeHex(randomBytes(bytes)); }

}  // namespace jackpot::console
