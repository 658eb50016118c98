#include "jackpotd/player_cards.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <string>

#include "base/encoding.h"

namespace jackpot {
namespace {

constexpr std::size_t kMinKeyBytes = 16;
constexpr std::size_t kMaxKeyBytes = 4096;
constexpr std::size_t kPseudonymBytes = 16;

}  // namespace

Result<linkproto::Pseudonym> loadPlayerCardPseudonym(const std::filesystem::path& keyFile)
{
    std::ifstream in{keyFile, std::ios::binary};
    std::string key(kMaxKeyBytes, '\0');
    in.read(key.data(), static_cast<std::streamsize>(key.size()));
    key.resize(static_cast<std::size_t>(in.gcount()));
    if (key.size() < kMinKeyBytes)
        return Error{keyFile.string() +
                     ": no secret of at least 16 bytes for the player cards: make one with "
                     "(umask 077; openssl rand -hex 32 > " +
                     keyFile.string() + ")"};
    struct stat status {};
    if (::stat(keyFile.c_str(), &status) == 0 && (status.st_mode & S_IRWXO) != 0)
        return Error{keyFile.string() + ": everyone can read this secret: chmod 600 it"};
    return linkproto::Pseudonym{[key = std::move(key)](std::string_view card) {
        std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
        unsigned size = 0;
        ::HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
               reinterpret_cast<const unsigned char*>(card.data()), card.size(), digest.data(),
               &size);
        return "p-" + encodeHex({reinterpret_cast<const char*>(digest.data()), kPseudonymBytes});
    }};
}

}  // namespace jackpot
