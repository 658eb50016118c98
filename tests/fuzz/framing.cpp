// FrameReader gives the same frames for pieces of any size as a splitter of the whole input.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "linkproto/frame.h"
#include "tests/fuzz/require.h"

namespace {

using jackpot::linkproto::FrameReader;

struct Split {
    std::vector<std::string> frames;
    FrameReader::Fault fault = FrameReader::Fault::None;
    bool isInside = false;
};

Split reference(const std::string& bytes)
{
    Split split;
    std::size_t at = 0;
    while (bytes.size() - at >= 4) {
        std::uint64_t size = 0;
        for (int i = 0; i < 4; ++i)
            size = size * 256 + static_cast<std::uint8_t>(bytes[at + static_cast<std::size_t>(i)]);
        if (size == 0) split.fault = FrameReader::Fault::Empty;
        if (size > 16384) split.fault = FrameReader::Fault::TooLong;
        if (split.fault != FrameReader::Fault::None) return split;
        if (bytes.size() - at - 4 < size) break;
        split.frames.push_back(bytes.substr(at + 4, size));
        at += 4 + size;
    }
    split.isInside = at < bytes.size();
    return split;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    std::uint32_t pieces = data[0] + 1U;
    const std::string bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
    const Split expected = reference(bytes);
    FrameReader reader;
    std::vector<std::string> frames;
    for (std::size_t at = 0; at < bytes.size();) {
        pieces = pieces * 1103515245U + 12345U;
        const std::size_t piece = 1 + (pieces >> 16U) % (1U + data[0]);
        reader.buffer().append(bytes, at, piece);
        at += piece;
        while (const auto frame = reader.next()) frames.emplace_back(*frame);
    }
    REQUIRE_HOLDS(frames == expected.frames);
    REQUIRE_HOLDS(reader.fault() == expected.fault);
    if (expected.fault == FrameReader::Fault::None)
        REQUIRE_HOLDS(reader.isInsideFrame() == expected.isInside);
    return 0;
}
