// A certificate authority for tests, which also issues wrong and expired certificates.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/tls.h"

struct evp_pkey_st;
struct x509_st;

namespace jackpot {

class Authority {
public:
    // Its files are in that directory, beginning with its name.
    Authority(std::filesystem::path directory, const std::string& name);

    struct Request {
        std::string commonName{};
        bool isServer = false;
        std::string altNames{};  // as openssl writes them: "DNS:localhost,IP:127.0.0.1"
        long fromSeconds = -60;
        long toSeconds = 3600;
    };
    // The files of a new certificate, with this authority as the one to trust.
    net::TlsFiles issue(const Request& request);
    net::TlsFiles table(const std::string& id) { return issue({.commonName = id}); }
    net::TlsFiles daemon()
    {
        return issue({.commonName = "jackpotd",
                      .isServer = true,
                      .altNames = "DNS:localhost,IP:127.0.0.1,IP:::1"});
    }
    // A list of the certificates in these files, as a file.
    std::filesystem::path revoke(const std::vector<net::TlsFiles>& revoked, long toSeconds = 3600);

    [[nodiscard]] const std::filesystem::path& ca() const { return ca_; }

private:
    std::filesystem::path directory_;
    std::string name_;
    std::filesystem::path ca_;
    std::shared_ptr<evp_pkey_st> key_;
    std::shared_ptr<x509_st> certificate_;
    long serial_ = 1;
};

}  // namespace jackpot
