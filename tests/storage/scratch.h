// What the storage tests work with: directories that vanish, files, the openssl program, seeded
// randomness.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>

namespace jackpot::storage {

class ScratchDirectory {
public:
    ScratchDirectory();
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    ~ScratchDirectory();

    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }

    std::filesystem::path write(std::string_view name, std::string_view bytes,
                                unsigned mode = 0600) const;

    // Runs `openssl ARGUMENTS` here, without terminal or output; whether it exited with 0.
    bool openssl(const std::string& arguments) const;

private:
    std::filesystem::path path_;
};

std::string contents(const std::filesystem::path& file);

// Seeded with JACKPOT_TEST_SEED, or at random once a run; prints the seed.
std::mt19937_64 seededRandom();

// A number in [0, bound).
std::uint64_t below(std::mt19937_64& random, std::uint64_t bound);

// One to three bytes flipped, replaced, inserted, removed or moved.
std::string mutated(std::string bytes, std::mt19937_64& random);

// The SubjectPublicKeyInfo of an Ed25519 key (RFC 8410) in PEM.
std::string publicPem(std::string_view key);

}  // namespace jackpot::storage
