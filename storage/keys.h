// Ed25519 keys (RFC 8032) by OpenSSL, under the names and ids that C2SP signed-note gives them.
// Where OpenSSL itself fails (no memory, no Ed25519) these throw std::runtime_error.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct evp_md_ctx_st;
struct evp_pkey_st;

namespace jackpot::storage {

inline constexpr std::size_t kMaxKeyFileBytes = 4096;

using PublicKey = std::array<std::uint8_t, 32>;

// Holds a private key; its memory is cleansed when the last copy goes.
class PrivateKey {
public:
    static PrivateKey generate();

    // From an unencrypted PKCS#8 PEM text. The caller cleanses the text.
    static Result<PrivateKey> fromPem(std::string_view pem);

    // From such a file, which may be reached through symbolic links, must be regular and at most
    // kMaxKeyFileBytes long, and must grant nothing to group or others. Only in
    // $CREDENTIALS_DIRECTORY may the group bits say "read": systemd 254 and later admits the
    // service's user there by an ACL, whose mask they show.
    static Result<PrivateKey> load(const std::filesystem::path& file);

    // Creates the file with mode 0600 and syncs it and its directory. Never overwrites; an error
    // leaves no file behind that was not there before.
    Result<void> writeTo(const std::filesystem::path& file) const;

    PublicKey publicKey() const;

private:
    friend class Signer;
    explicit PrivateKey(std::shared_ptr<evp_pkey_st> key) : key_{std::move(key)} {}

    std::shared_ptr<evp_pkey_st> key_;
};

// A named public key. Copies share the key; all members are safe from any thread at once.
class Verifier {
public:
    // The name must be UTF-8, not empty, without Unicode spaces, control characters and plus signs.
    static Result<Verifier> make(std::string name, const PublicKey& key);

    // A signed-note verifier key: name+hex(key id)+base64(0x01 || public key).
    static Result<Verifier> parse(std::string_view text);
    std::string format() const;

    const std::string& name() const noexcept { return name_; }
    std::uint32_t keyId() const noexcept { return keyId_; }
    const PublicKey& publicKey() const noexcept { return publicKey_; }

    bool verify(std::string_view message, std::string_view signature) const;

private:
    Verifier(std::string name, std::uint32_t keyId, const PublicKey& key);

    std::string name_;
    std::uint32_t keyId_;
    PublicKey publicKey_;
    std::shared_ptr<evp_pkey_st> key_;
};

// A named private key. One thread at a time: it reuses its signing context.
class Signer {
public:
    // Names as for Verifier::make.
    static Result<Signer> make(std::string name, PrivateKey key);

    const std::string& name() const noexcept { return verifier_.name(); }
    std::uint32_t keyId() const noexcept { return verifier_.keyId(); }
    const Verifier& verifier() const noexcept { return verifier_; }

    // 64 bytes.
    std::string sign(std::string_view message);

private:
    struct FreeContext {
        void operator()(evp_md_ctx_st* context) const noexcept;
    };

    Signer(PrivateKey key, Verifier verifier);

    PrivateKey key_;
    Verifier verifier_;
    std::unique_ptr<evp_md_ctx_st, FreeContext> context_;
};

// Why a key may not have this name, or nothing.
Result<void> checkKeyName(std::string_view name);

// Key ids as signatures and verifier keys carry them: four bytes, big-endian.
std::string keyIdBytes(std::uint32_t keyId);
std::uint32_t keyIdOf(std::string_view fourBytes);

}  // namespace jackpot::storage
