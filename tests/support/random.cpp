#include "tests/support/random.h"

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace jackpot {

std::mt19937_64 seededRandom()
{
    static const char* const given = std::getenv("JACKPOT_TEST_SEED");
    static const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cerr << "rerun with JACKPOT_TEST_SEED=" << seed << '\n';
    return std::mt19937_64{seed};
}

std::uint64_t below(std::mt19937_64& random, std::uint64_t bound)
{
    return std::uniform_int_distribution<std::uint64_t>{0, bound - 1}(random);
}

std::string mutated(std::string bytes, std::mt19937_64& random)
{
    static constexpr std::string_view kTelling{"\n\n +=-0/A\r\t\0\x7F\x80\xE2\xFF", 17};
    for (auto changes = 1 + below(random, 3); changes > 0; --changes) {
        const auto at = static_cast<std::ptrdiff_t>(below(random, bytes.size() + 1));
        const char telling = kTelling[below(random, kTelling.size())];
        if (at == static_cast<std::ptrdiff_t>(bytes.size())) {
            bytes += telling;
            continue;
        }
        const auto here = bytes.begin() + at;
        switch (below(random, 6)) {
            case 0: *here = static_cast<char>(*here ^ (1 << below(random, 8))); break;
            case 1: *here = telling; break;
            case 2: bytes.insert(here, telling); break;
            case 3: bytes.erase(here); break;
            case 4: bytes.resize(static_cast<std::size_t>(at)); break;
            default:
                bytes.insert(below(random, bytes.size()),
                             bytes.substr(static_cast<std::size_t>(at), below(random, 100)));
        }
    }
    return bytes;
}

}  // namespace jackpot
