// A directory that vanishes, files, bytes as text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace jackpot::linkproto {

class ScratchDirectory {
public:
    ScratchDirectory();
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    ~ScratchDirectory();

    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

std::string contentsOf(const std::filesystem::path& file);
void write(const std::filesystem::path& file, std::string_view bytes);
std::string hexOf(std::string_view bytes);

}  // namespace jackpot::linkproto
