// Modbus TCP from bytes to bytes: what a display asks, and the answer. No socket, no clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "meters/registers.h"

namespace jackpot::meters {

// The units that a display can ask for.
class Units {
public:
    [[nodiscard]] virtual bool has(std::uint8_t unit) const = 0;
    // The registers of one that is there, as they are now; stays until the next call.
    virtual const Registers& read(std::uint8_t unit) = 0;

protected:
    ~Units() = default;
};

// One connection's side. A question is answered as soon as its answer is certain, whether or not
// the rest of its frame has come: so a frame that promises more bytes than it has gets an exception
// at once, and only one that could still become a read is waited for.
class Requests {
public:
    struct Counters {
        std::uint64_t reads = 0;
        std::uint64_t exceptions = 0;
    };

    // Takes all of the bytes and appends the answers. False: this is not Modbus; the connection is
    // to be closed, after what `out` has.
    bool take(std::span<const std::uint8_t> bytes, Units& units, std::vector<std::uint8_t>& out);

    // A frame has begun and is not complete.
    [[nodiscard]] bool isInsideFrame() const { return held_ > 0 || skip_ > 0; }
    [[nodiscard]] const Counters& counters() const { return counters_; }

private:
    static constexpr std::size_t kReadBytes = 12;  // the longest frame that is worth waiting for

    enum class Taken : std::uint8_t { Frame, NeedsMore, NotModbus };
    Taken takeFrame(std::span<const std::uint8_t>& bytes, Units& units,
                    std::vector<std::uint8_t>& out);
    void answer(std::span<const std::uint8_t> frame, Units& units, std::vector<std::uint8_t>& out);
    void refuse(std::span<const std::uint8_t> frame, std::uint8_t exception,
                std::vector<std::uint8_t>& out);

    std::array<std::uint8_t, kReadBytes> beginning_{};  // of a frame that is not complete
    std::size_t held_ = 0;
    std::size_t skip_ = 0;  // bytes of an answered frame that are still to come
    Counters counters_;
};

}  // namespace jackpot::meters
