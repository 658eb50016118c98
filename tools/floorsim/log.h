// What floorsim sent and received, in a file beside the outboxes. After a kill, its books are
// rebuilt from this file. Entries: four bytes of length, big-endian; a kind; four bytes of table
// index; the command's or frame's bytes. A frame is written here before it is handled. The file is
// not synced: it survives a kill of the process, not a crash of the machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jackpot::floorsim {

class FloorLog {
public:
    enum class Kind : char { Header = 'H', Sent = 'C', Received = 'F', BooksBegun = 'B' };
    using Replay = std::function<void(Kind, std::uint32_t table, std::string_view bytes)>;

    // An error if the file exists.
    static Result<FloorLog> create(const std::filesystem::path& file,
                                   const std::vector<std::string>& tables);
    // Passes each entry to `replay`. An incomplete last entry is removed.
    static Result<FloorLog> resume(const std::filesystem::path& file,
                                   const std::vector<std::string>& tables, const Replay& replay);

    FloorLog(FloorLog&& other) noexcept : file_{other.file_} { other.file_ = -1; }
    FloorLog& operator=(FloorLog&&) = delete;
    ~FloorLog();

    void add(Kind kind, std::uint32_t table, std::string_view bytes);
    [[nodiscard]] bool hasFailed() const { return hasFailed_; }

private:
    explicit FloorLog(int file) : file_{file} {}

    int file_ = -1;
    bool hasFailed_ = false;
    std::string scratch_;
};

}  // namespace jackpot::floorsim
