// A simple display that polls: it sends given bytes and reads the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meters/registers.h"

namespace jackpot::meters::testing {

using Bytes = std::vector<std::uint8_t>;

// An open pool.
PoolReading readingOf(std::string_view pool, std::int64_t cents);
// The number or the text in registers, as a display reads them.
std::uint64_t numberIn(const Registers& registers, std::size_t at, std::size_t count);
std::string textIn(const Registers& registers, std::size_t at);

// A request for registers, by function 4.
Bytes readRequest(std::uint16_t first, std::uint16_t count, std::uint8_t unit,
                  std::uint16_t transaction = 1);

class RawDisplay {
public:
    // `from` is an address of this machine, or nullptr for whichever.
    explicit RawDisplay(std::uint16_t port, const char* from = nullptr);
    RawDisplay(RawDisplay&& other) noexcept;
    RawDisplay& operator=(RawDisplay&&) = delete;
    ~RawDisplay();

    void send(const Bytes& bytes) const;
    // What comes within the time, up to so many bytes; fewer where it was closed or came late.
    [[nodiscard]] Bytes receive(std::size_t count, int timeoutMs = 5000) const;
    // The other side has closed, within the time.
    [[nodiscard]] bool isClosed(int timeoutMs = 5000) const;
    // All registers of a unit; nothing where there was no such answer.
    [[nodiscard]] std::optional<Registers> poll(std::uint8_t unit) const;
    [[nodiscard]] int socket() const { return socket_; }

private:
    int socket_;
};

}  // namespace jackpot::meters::testing
