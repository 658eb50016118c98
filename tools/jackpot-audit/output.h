// What jackpot-audit writes: to standard output, or to a file that appears only when it is whole.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/output.h"

namespace jackpot::audit {

// Written in large pieces. What cannot be written is a Stop.
class FileOutput final : public Output {
public:
    FileOutput();  // standard output
    // A new file; refused where there is one of that name. Until commit() it has no name, so that
    // nothing half-written is left behind whatever happens. A device or a pipe is written as it is.
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
    // All is written: makes it durable and gives the file its name.
    void commit();
    // Takes the name away again, for another file that failed.
    void undo();

private:
    static constexpr std::size_t kFlushBytes = 1U << 18U;

    int descriptor_;
    std::filesystem::path name_;  // empty for standard output
    std::string temporary_;       // where the file system knows no files without a name
    bool direct_ = true;          // there is no name to give
    std::string buffer_;
};

bool standardOutputIsTerminal();

// "12 % 1,200,000 of 10,000,000 records, 250,000 a second, 35 s left" on standard error, if that
// is a terminal. One thread at a time.
class Progress {
public:
    explicit Progress(std::string what);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { clear(); }

    void show(std::uint64_t done, std::uint64_t total);
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    std::string what_;
    bool shown_ = false;
    bool terminal_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_;
};

// From now on SIGINT and SIGTERM are only remembered.
void rememberInterrupts();
bool interrupted();
// A Stop with status 130 where there was one.
void stopIfInterrupted();
// The same as a JournalView::Pause.
inline void pauseForInterrupts(std::uint64_t /*done*/, std::uint64_t /*total*/)
{
    stopIfInterrupted();
}

}  // namespace jackpot::audit
