#include "linkproto/frame.h"

#include <stdexcept>

namespace jackpot::linkproto {

std::optional<std::string_view> FrameReader::next()
{
    if (fault_ != Fault::None || bytes_.size() - at_ < kFrameHeadBytes) return std::nullopt;
    std::size_t size = 0;
    for (std::size_t i = 0; i < kFrameHeadBytes; ++i)
        size = size << 8U | static_cast<unsigned char>(bytes_[at_ + i]);
    if (size == 0) fault_ = Fault::Empty;
    if (size > kMaxFrameBytes) fault_ = Fault::TooLong;
    if (fault_ != Fault::None || bytes_.size() - at_ - kFrameHeadBytes < size) return std::nullopt;
    const std::string_view frame = std::string_view{bytes_}.substr(at_ + kFrameHeadBytes, size);
    at_ += kFrameHeadBytes + size;
    return frame;
}

// What is left is less than a frame, or frames that nobody has asked for yet.
void FrameReader::compact()
{
    if (at_ == 0) return;
    bytes_.erase(0, at_);
    at_ = 0;
    // A quiet connection keeps no memory for its busiest moment.
    if (bytes_.empty() && bytes_.capacity() > 2 * kMaxFrameBytes) std::string{}.swap(bytes_);
}

void appendFrameHead(std::string& out, std::size_t payloadBytes)
{
    if (payloadBytes == 0 || payloadBytes > kMaxFrameBytes)
        throw std::length_error{"a frame of " + std::to_string(payloadBytes) + " bytes"};
    for (const unsigned shift : {24U, 16U, 8U, 0U})
        out += static_cast<char>(payloadBytes >> shift & 0xFFU);
}

}  // namespace jackpot::linkproto
