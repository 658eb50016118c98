// replay FOLDER: runs a fuzz target on each file of its corpus, and on copies with a few changed
// bytes. libFuzzer finds new inputs; this program runs the known ones again.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::string& bytes)
{
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int count, char** arguments)
{
    constexpr int kChanged = 200;
    constexpr unsigned kSeed = 20261116;
    if (count != 2) {
        std::cerr << "usage: replay FOLDER\n";
        return 2;
    }
    std::vector<std::filesystem::path> files;
    for (const auto& each : std::filesystem::directory_iterator{arguments[1]})
        files.push_back(each.path());
    std::ranges::sort(files);
    std::mt19937 random{kSeed};
    for (const auto& file : files) {
        std::ifstream in{file, std::ios::binary};
        const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
        run(bytes);
        for (int i = 0; i < kChanged && !bytes.empty(); ++i) {
            std::string changed = bytes;
            for (unsigned j = 0; j <= random() % 4; ++j)
                changed[random() % changed.size()] = static_cast<char>(random());
            if (random() % 4 == 0) changed.resize(random() % changed.size());
            run(changed);
        }
    }
    std::cout << files.size() << " inputs, each changed " << kChanged << " times, seed " << kSeed
              << "\n";
    return files.empty() ? 1 : 0;
}
