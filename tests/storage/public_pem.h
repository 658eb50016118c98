// The file format of public keys that the openssl program reads and writes.
#pragma once

#include <string>
#include <string_view>

#include "base/encoding.h"

namespace jackpot::storage {

// The SubjectPublicKeyInfo of an Ed25519 key (RFC 8410) in PEM.
inline std::string publicPem(std::string_view key)
{
    std::string prefix = *decodeHex("302a300506032b6570032100");
    return "-----BEGIN PUBLIC KEY-----\n" + encodeBase64(prefix.append(key)) +
           "\n-----END PUBLIC KEY-----\n";
}

}  // namespace jackpot::storage
