// Random input that a failed run can repeat.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace jackpot {

// Seeded with JACKPOT_TEST_SEED, or at random once per run; prints the seed.
std::mt19937_64 seededRandom();

// A number in [0, bound).
std::uint64_t below(std::mt19937_64& random, std::uint64_t bound);

// One to three bytes flipped, replaced, inserted, removed or moved.
std::string mutated(std::string bytes, std::mt19937_64& random);

}  // namespace jackpot
