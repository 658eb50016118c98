#include "storage/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <stdexcept>

#include "base/encoding.h"

namespace jackpot::storage {
namespace {

// Fetching the algorithm or allocating the context for each hash would halve the rate.
struct Sha256Context {
    EVP_MD* algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    EVP_MD_CTX* state = EVP_MD_CTX_new();

    Sha256Context()
    {
        if (algorithm == nullptr || state == nullptr)
            throw std::runtime_error{"OpenSSL offers no SHA-256"};
    }
    Sha256Context(const Sha256Context&) = delete;
    Sha256Context& operator=(const Sha256Context&) = delete;
    ~Sha256Context()
    {
        EVP_MD_CTX_free(state);
        EVP_MD_free(algorithm);
    }
};

}  // namespace

Result<Hash> Hash::fromBytes(std::string_view bytes)
{
    Hash hash;
    if (bytes.size() != hash.bytes.size())
        return Error{"a hash of " + std::to_string(bytes.size()) + " bytes instead of 32"};
    std::ranges::transform(bytes, hash.bytes.begin(),
                           [](char c) { return static_cast<std::uint8_t>(c); });
    return hash;
}

Result<Hash> Hash::fromBase64(std::string_view text)
{
    const auto decoded = decodeBase64(text);
    if (!decoded) return decoded.error();
    return fromBytes(*decoded);
}

std::string_view Hash::view() const noexcept
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string Hash::base64() const { return encodeBase64(view()); }

std::string Hash::hex() const { return encodeHex(view()); }

Hash sha256(std::initializer_list<std::string_view> parts)
{
    thread_local const Sha256Context context;
    Hash hash;
    bool done = EVP_DigestInit_ex2(context.state, context.algorithm, nullptr) == 1;
    for (const std::string_view part : parts)
        done = done && EVP_DigestUpdate(context.state, part.data(), part.size()) == 1;
    done = done && EVP_DigestFinal_ex(context.state, hash.bytes.data(), nullptr) == 1;
    if (!done) throw std::runtime_error{"OpenSSL could not compute SHA-256"};
    return hash;
}

}  // namespace jackpot::storage
