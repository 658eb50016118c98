#include "tests/support/scratch.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace jackpot::linkproto {

ScratchDirectory::ScratchDirectory()
{
    std::string name = std::filesystem::temp_directory_path() / "link_tests.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no temporary directory"};
    path_ = name;
}

ScratchDirectory::~ScratchDirectory()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string contentsOf(const std::filesystem::path& file)
{
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

void write(const std::filesystem::path& file, std::string_view bytes)
{
    std::ofstream{file, std::ios::binary} << bytes;
}

std::string hexOf(std::string_view bytes)
{
    static constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    for (const char each : bytes) {
        const auto byte = static_cast<unsigned char>(each);
        hex += kDigits[byte >> 4U];
        hex += kDigits[byte & 0xFU];
    }
    return hex;
}

}  // namespace jackpot::linkproto
