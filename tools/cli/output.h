// What commands write: to standard output, or to a file that appears only when it is complete.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "audit/output.h"

namespace jackpot::cli {

// Buffers what is written. A CommandError if it cannot be written.
class FileOutput final : public audit::Output {
public:
    FileOutput();  // standard output
    // A new file; a CommandError if the name is in use. Until commit() the file has no name, so
    // that an incomplete file is never left behind. A device or a pipe is written directly.
    explicit FileOutput(std::filesystem::path file);
    FileOutput(FileOutput&& other) noexcept;
    FileOutput& operator=(FileOutput&&) = delete;
    ~FileOutput() override;

    void write(std::string_view bytes) override
    {
        buffer_ += bytes;
        if (buffer_.size() >= kFlushBytes) flush();
    }
    void lines(std::string_view text) override;
    void flush();
    // Syncs the file and gives it its name.
    void commit();
    // Removes the file again, if another file of the same command failed.
    void undo();

private:
    static constexpr std::size_t kFlushBytes = 1U << 18U;

    int descriptor_;
    std::filesystem::path name_;  // empty for standard output
    std::string temporary_;       // name until commit(), if the file system has no O_TMPFILE
    bool direct_ = true;          // nothing to name or sync
    std::string buffer_;
};

bool standardOutputIsTerminal();

}  // namespace jackpot::cli
