// Certificates of a site's own authority, made in memory: ECDSA P-256 with SHA-256, X.509 v3 as in
// RFC 5280. Times are Unix seconds. If OpenSSL itself fails, these functions throw
// std::runtime_error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct evp_pkey_st;
struct x509_st;

namespace jackpot::ctl::pki {

using Seconds = std::int64_t;
inline constexpr Seconds kDay = 24LL * 60 * 60;
// Clocks of tables may be a little behind.
inline constexpr Seconds kBackdated = 5LL * 60;

enum class Kind : std::uint8_t { Server, Table, Operator };

std::string_view idOf(Kind kind);  // "server", "table", "operator"
std::optional<Kind> kindOfId(std::string_view id);

enum class Reason : std::uint8_t {
    Unspecified = 0,  // the numbers of RFC 5280, 5.3.1
    KeyCompromise = 1,
    Superseded = 4,
    CessationOfOperation = 5,
};

std::string_view idOf(Reason reason);  // "key-compromise"
std::optional<Reason> reasonOfId(std::string_view id);

// A certificate with its private key, as PEM. The key's memory is cleansed.
struct Pair {
    Pair() = default;
    Pair(Pair&&) = default;
    Pair& operator=(Pair&&) = default;
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;
    ~Pair();

    std::string serial;  // 32 hexadecimal digits
    Seconds notAfter = 0;
    std::string certificate;
    std::string key;
};

struct LeafRequest {
    Kind kind = Kind::Table;
    std::string name;                // the subject's common name
    std::vector<std::string> hosts;  // of a server: names and addresses that clients connect to
    Seconds now = 0;
    Seconds notAfter = 0;
};

struct Revoked {
    std::string serial;
    Seconds at = 0;
    Reason reason = Reason::Unspecified;
};

class Issuer {
public:
    // A new authority. It signs only end-entity certificates, no other authorities.
    static Pair makeAuthority(Seconds now, Seconds notAfter);

    static Result<Issuer> fromPem(std::string_view certificate, std::string_view key);

    [[nodiscard]] Seconds notAfter() const;
    [[nodiscard]] Pair issue(const LeafRequest& request) const;
    [[nodiscard]] std::string makeCrl(const std::vector<Revoked>& revoked, std::uint64_t number,
                                      Seconds now, Seconds nextUpdate) const;

private:
    Issuer(std::shared_ptr<x509_st> certificate, std::shared_ptr<evp_pkey_st> key)
        : certificate_{std::move(certificate)}, key_{std::move(key)}
    {}

    std::shared_ptr<x509_st> certificate_;
    std::shared_ptr<evp_pkey_st> key_;
};

struct CertificateFacts {
    std::string serial;
    Seconds notAfter = 0;
    std::vector<std::string> hosts;
};
Result<CertificateFacts> factsOfCertificate(std::string_view pem);

struct CrlFacts {
    std::uint64_t number = 0;
    Seconds nextUpdate = 0;
};
Result<CrlFacts> factsOfCrl(std::string_view pem);

// A DNS name or an IP address, as it can stand in a server's certificate.
bool isHost(const std::string& text);

}  // namespace jackpot::ctl::pki
