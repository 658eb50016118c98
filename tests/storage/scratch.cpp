#include "tests/storage/scratch.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/encoding.h"

namespace jackpot::storage {

ScratchDirectory::ScratchDirectory()
{
    std::string name = std::filesystem::temp_directory_path() / "storage_tests.XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
}

ScratchDirectory::~ScratchDirectory() { std::filesystem::remove_all(path_); }

std::filesystem::path ScratchDirectory::write(std::string_view name, std::string_view bytes,
                                              unsigned mode) const
{
    const auto file = path_ / name;
    std::ofstream{file, std::ios::binary} << bytes;
    REQUIRE(::chmod(file.c_str(), mode) == 0);
    return file;
}

bool ScratchDirectory::openssl(const std::string& arguments) const
{
    const std::string command =
        "cd '" + path_.string() + "' && openssl " + arguments + " </dev/null >/dev/null 2>&1";
    return std::system(command.c_str()) == 0;
}

std::string contents(const std::filesystem::path& file)
{
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

std::mt19937_64 seededRandom()
{
    static const char* const given = std::getenv("JACKPOT_TEST_SEED");
    static const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    MESSAGE("rerun with JACKPOT_TEST_SEED=", seed);
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

std::string publicPem(std::string_view key)
{
    std::string prefix = *decodeHex("302a300506032b6570032100");
    return "-----BEGIN PUBLIC KEY-----\n" + encodeBase64(prefix.append(key)) +
           "\n-----END PUBLIC KEY-----\n";
}

}  // namespace jackpot::storage
