// The server side of Modbus TCP, from bytes to bytes. No socket, no clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "meters/registers.h"

namespace jackpot::meters {

// The Modbus units that a display can read.
class UnitSource {
public:
    [[nodiscard]] virtual bool has(std::uint8_t unit) const = 0;
    // The current registers of an existing unit; valid until the next call.
    virtual const Registers& read(std::uint8_t unit) = 0;

protected:
    ~UnitSource() = default;
};

// The requests of one connection. A request is answered as soon as the answer is certain, even if
// the frame is incomplete: a frame whose length field promises too many bytes gets its exception at
// once. Only a frame that can still become a valid read is waited for.
class RequestReader {
public:
    struct Counters {
        std::uint64_t reads = 0;
        std::uint64_t exceptions = 0;
    };

    // Consumes all bytes and appends the answers to `out`. False: this is not Modbus; close the
    // connection after sending `out`.
    bool handle(std::span<const std::uint8_t> bytes, UnitSource& units,
                std::vector<std::uint8_t>& out);

    // True if a frame has begun and is not complete.
    [[nodiscard]] bool isInsideFrame() const { return held_ > 0 || skip_ > 0; }
    [[nodiscard]] const Counters& counters() const { return counters_; }

private:
    static constexpr std::size_t kReadBytes = 12;  // the longest frame that is waited for

    enum class Outcome : std::uint8_t { Handled, NeedsMore, NotModbus };
    Outcome handleFrame(std::span<const std::uint8_t>& bytes, UnitSource& units,
                        std::vector<std::uint8_t>& out);
    void answer(std::span<const std::uint8_t> frame, UnitSource& units,
                std::vector<std::uint8_t>& out);
    void appendException(std::span<const std::uint8_t> frame, std::uint8_t exception,
                         std::vector<std::uint8_t>& out);

    std::array<std::uint8_t, kReadBytes> beginning_{};  // of an incomplete frame
    std::size_t held_ = 0;                              // bytes in beginning_
    std::size_t skip_ = 0;  // bytes of an answered frame that have not arrived yet
    Counters counters_;
};

}  // namespace jackpot::meters
