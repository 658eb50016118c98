// Frames on a stream of bytes: four bytes of length, big-endian, then as many bytes. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jackpot::linkproto {

inline constexpr std::size_t kMaxFrameBytes = 16U << 10U;
inline constexpr std::size_t kFrameHeadBytes = 4;

// Takes bytes as they come and gives frames as they are complete. After a fault it gives nothing
// more: where the next frame would begin is not known.
class FrameReader {
public:
    enum class Fault : std::uint8_t { None, Empty, TooLong };

    // Where more bytes may be appended; what next() gave out is invalid from then on.
    std::string& buffer()
    {
        compact();
        return bytes_;
    }
    // The next frame's payload, which lives until buffer() is called.
    std::optional<std::string_view> next();

    [[nodiscard]] Fault fault() const { return fault_; }
    // Part of a frame is there, and the rest is not.
    [[nodiscard]] bool isInsideFrame() const { return at_ < bytes_.size(); }

private:
    void compact();

    std::string bytes_;
    std::size_t at_ = 0;
    Fault fault_ = Fault::None;
};

// Appends the head of a frame with `payloadBytes`.
void appendFrameHead(std::string& out, std::size_t payloadBytes);

// Appends a message as a frame. Message is a protobuf one; what we send is bounded by what it is
// made of, so a frame that is too long is a fault of ours and throws std::length_error.
template <class Message>
void appendFrame(std::string& out, const Message& message)
{
    const std::size_t size = message.ByteSizeLong();
    appendFrameHead(out, size);
    const std::size_t at = out.size();
    out.resize(at + size);
    message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(out.data() + at));
}

}  // namespace jackpot::linkproto
