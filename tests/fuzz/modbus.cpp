// RequestReader gives the same answers for pieces of any size as for the whole input; no answer is
// longer than its request allows, and only a correct read request reads registers.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "meters/modbus_codec.h"
#include "tests/fuzz/require.h"

namespace {

using namespace jackpot::meters;
using Bytes = std::vector<std::uint8_t>;

class OddUnits final : public UnitSource {
public:
    [[nodiscard]] bool has(std::uint8_t unit) const override { return unit % 2 == 1; }
    const Registers& read(std::uint8_t unit) override
    {
        ++reads;
        registers_.fill(unit);
        return registers_;
    }
    std::uint64_t reads = 0;

private:
    Registers registers_{};
};

struct Expected {
    std::size_t answers = 0;
    std::uint64_t reads = 0;
    std::size_t bytes = 0;
    bool isModbus = true;
};

// The expected answers: splits the whole input into frames, one after the other.
Expected reference(const Bytes& bytes)
{
    Expected expected;
    const auto word = [&](std::size_t at) {
        return static_cast<std::size_t>(bytes[at] << 8U | bytes[at + 1]);
    };
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t left = bytes.size() - at;
        if (left >= 4 && word(at + 2) != 0) expected.isModbus = false;
        if (left >= 6 && (word(at + 4) < 2 || word(at + 4) > 254)) expected.isModbus = false;
        if (!expected.isModbus || left < 8) return expected;
        const std::uint8_t function = bytes[at + 7];
        const bool isRead = (function == 3 || function == 4) && word(at + 4) == 6;
        if (isRead && left < 12) return expected;
        ++expected.answers;
        const bool isGood = isRead && bytes[at + 6] % 2 == 1 && word(at + 10) >= 1 &&
                            word(at + 10) <= 125 && word(at + 8) + word(at + 10) <= kRegisters;
        if (isGood) ++expected.reads;
        expected.bytes += isGood ? 9 + 2 * word(at + 10) : 9;
        at += 6 + word(at + 4);
    }
    return expected;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    const Bytes bytes{data + 1, data + size};
    const Expected expected = reference(bytes);
    OddUnits units;
    RequestReader requests;
    Bytes out;
    bool isModbus = true;
    std::uint32_t pieces = data[0] + 1U;
    for (std::size_t at = 0; at < bytes.size() && isModbus;) {
        pieces = pieces * 1103515245U + 12345U;
        const std::size_t piece =
            std::min<std::size_t>(1 + (pieces >> 16U) % (1U + data[0]), bytes.size() - at);
        isModbus = requests.handle(std::span{bytes}.subspan(at, piece), units, out);
        at += piece;
    }
    REQUIRE_HOLDS(isModbus == expected.isModbus);
    REQUIRE_HOLDS(out.size() == expected.bytes);
    REQUIRE_HOLDS(units.reads == expected.reads);
    REQUIRE_HOLDS(requests.counters().reads == expected.reads);
    REQUIRE_HOLDS(requests.counters().reads + requests.counters().exceptions == expected.answers);
    return 0;
}
