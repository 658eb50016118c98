// What floorsim sent and received, in a file beside the outboxes. After a kill, its books are
// rebuilt from this file. Entries: four bytes of length, big-endian; a kind; four bytes of table
// index; the command's or frame's bytes. It is written before anything else is done with a frame,
// and not synced: it outlives the process, not the machine.
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
    enum class Kind : char { Header = 'H', Sent = 'C', LinkSequence = 'F', NewSession = 'B' };
    using Replay = std::function<void(Kind, std::uint32_t table, std::string_view bytes)>;

    // Refuses to write over an earlier one.
    static Result<FloorLog> create(const std::filesystem::path& file,
                                   const std::vector<std::string>& tables);
    // Gives back what it holds. An entry that was cut short at the end is cut off.
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
