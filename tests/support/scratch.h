// Temporary directories, and files as bytes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace jackpot {

// A new directory on disk, removed with the object. Throws std::runtime_error if it cannot be made.
class ScratchDirectory {
public:
    ScratchDirectory();
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    ~ScratchDirectory();

    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    std::filesystem::path write(std::string_view name, std::string_view bytes,
                                unsigned mode = 0600) const;
    // Removes all that is in it.
    void clear() const;

    // Runs `openssl ARGUMENTS` here, without terminal or output; whether it exited with 0.
    bool openssl(const std::string& arguments) const;

protected:
    explicit ScratchDirectory(const std::filesystem::path& parent);

private:
    std::filesystem::path path_;
};

// In memory if the system has a file system there, for tests that open thousands of journals.
class MemoryDirectory : public ScratchDirectory {
public:
    MemoryDirectory();
};

std::string bytesOf(const std::filesystem::path& file);
void writeBytes(const std::filesystem::path& file, std::string_view bytes);

}  // namespace jackpot
