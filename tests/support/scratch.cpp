#include "tests/support/scratch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace jackpot {

namespace fs = std::filesystem;

ScratchDirectory::ScratchDirectory() : ScratchDirectory{fs::temp_directory_path()} {}

ScratchDirectory::ScratchDirectory(const fs::path& parent)
{
    std::string name = parent / "jackpot_tests.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"cannot create " + name};
    path_ = name;
}

ScratchDirectory::~ScratchDirectory()
{
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

fs::path ScratchDirectory::write(std::string_view name, std::string_view bytes, unsigned mode) const
{
    fs::path file = path_ / name;
    writeBytes(file, bytes);
    if (::chmod(file.c_str(), mode) != 0)
        throw std::runtime_error{"cannot set the mode of " + file.string()};
    return file;
}

void ScratchDirectory::clear() const
{
    for (const auto& entry : fs::directory_iterator{path_}) fs::remove_all(entry.path());
}

bool ScratchDirectory::openssl(const std::string& arguments) const
{
    const std::string command =
        "cd '" + path_.string() + "' && openssl " + arguments + " </dev/null >/dev/null 2>&1";
    return std::system(command.c_str()) == 0;
}

MemoryDirectory::MemoryDirectory()
    : ScratchDirectory{::access("/dev/shm", W_OK | X_OK) == 0 ? fs::path{"/dev/shm"}
                                                              : fs::temp_directory_path()}
{}

std::string bytesOf(const fs::path& file)
{
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

void writeBytes(const fs::path& file, std::string_view bytes)
{
    std::ofstream out{file, std::ios::binary | std::ios::trunc};
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace jackpot
