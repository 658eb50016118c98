#include <doctest/doctest.h>

#include <map>
#include <string>

#include "meters/modbus_codec.h"

namespace jackpot::meters {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Register n of unit u is u * 256 + n. Unit 1 and 247 are there.
class TwoUnits final : public UnitSource {
public:
    [[nodiscard]] bool has(std::uint8_t unit) const override { return unit == 1 || unit == 247; }
    const Registers& read(std::uint8_t unit) override
    {
        ++reads;
        for (std::size_t i = 0; i < kRegisters; ++i)
            registers_.at(i) = static_cast<std::uint16_t>(unit * 256U + i);
        return registers_;
    }
    int reads = 0;

private:
    Registers registers_{};
};

void append(Bytes& to, std::size_t word)
{
    to.push_back(static_cast<std::uint8_t>(word >> 8U));
    to.push_back(static_cast<std::uint8_t>(word));
}

// A frame with everything as it should be.
Bytes frame(std::uint8_t unit, std::uint8_t function, const Bytes& rest,
            std::uint16_t transaction = 0x1234)
{
    Bytes bytes;
    append(bytes, transaction);
    append(bytes, 0);
    append(bytes, rest.size() + 2);
    bytes.push_back(unit);
    bytes.push_back(function);
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    return bytes;
}

Bytes read(std::size_t first, std::size_t count, std::uint8_t unit = 1, std::uint8_t function = 4,
           std::uint16_t transaction = 0x1234)
{
    Bytes rest;
    append(rest, first);
    append(rest, count);
    return frame(unit, function, rest, transaction);
}

struct Answer {
    Bytes bytes;
    bool isModbus = true;
    bool isInside = false;

    bool operator==(const Answer&) const = default;
};

Answer answerTo(const Bytes& bytes, std::size_t pieces = 1)
{
    TwoUnits units;
    RequestReader requests;
    Answer answer;
    for (std::size_t at = 0; at < bytes.size() && answer.isModbus;) {
        const std::size_t size =
            std::min(std::max(bytes.size() / pieces, std::size_t{1}), bytes.size() - at);
        answer.isModbus = requests.handle(std::span{bytes}.subspan(at, size), units, answer.bytes);
        at += size;
    }
    answer.isInside = requests.isInsideFrame();
    return answer;
}

Bytes exception(std::uint8_t function, std::uint8_t code, std::uint8_t unit = 1)
{
    return {0x12, 0x34, 0, 0, 0, 3, unit, static_cast<std::uint8_t>(function | 0x80U), code};
}

TEST_CASE("a read is answered with the registers, by function 4 and by 3")
{
    for (const std::uint8_t function : {std::uint8_t{3}, std::uint8_t{4}}) {
        const Answer answer = answerTo(read(38, 2, 1, function));
        CHECK(answer.bytes == Bytes{0x12, 0x34, 0, 0, 0, 7, 1, function, 4, 1, 38, 1, 39});
        CHECK(answer.isModbus);
        CHECK_FALSE(answer.isInside);
    }
    CHECK(answerTo(read(0, 40, 247)).bytes.size() == 9 + 80);
    CHECK(answerTo(read(0, 1, 247)).bytes == Bytes{0x12, 0x34, 0, 0, 0, 5, 247, 4, 2, 247, 0});
}

TEST_CASE("every first register and every count gives the registers or the correct exception")
{
    for (std::size_t first = 0; first <= 41; ++first)
        for (std::size_t count = 0; count <= 130; ++count) {
            const Answer answer = answerTo(read(first, count));
            const Bytes expected = count == 0 || count > 125 ? exception(4, 3)
                                   : first + count > 40      ? exception(4, 2)
                                                             : Bytes{};
            if (expected.empty())
                CHECK(answer.bytes.size() == 9 + 2 * count);
            else
                CHECK(answer.bytes == expected);
        }
    for (const std::size_t first : {std::size_t{65'535}, std::size_t{65'411}})  // beyond the end
        CHECK(answerTo(read(first, 125)).bytes == exception(4, 2));
    CHECK(answerTo(read(65'535, 65'535)).bytes == exception(4, 3));
}

TEST_CASE("every request to an unknown unit is answered with exception 11")
{
    for (int unit = 0; unit < 256; ++unit) {
        if (unit == 1 || unit == 247) continue;
        const auto id = static_cast<std::uint8_t>(unit);
        CHECK(answerTo(read(0, 1, id)).bytes == exception(4, 11, id));
        CHECK(answerTo(frame(id, 6, {0, 0, 0, 1})).bytes == exception(6, 11, id));
    }
}

TEST_CASE(
    "malformed requests of every function give an exception or end the connection, and read "
    "nothing")
{
    int cases = 0;
    for (int each = 0; each < 256; ++each) {
        const auto function = static_cast<std::uint8_t>(each);
        const bool isRead = function == 3 || function == 4;
        for (const Bytes& rest : {Bytes{}, Bytes{0}, Bytes{0, 0}, Bytes{0, 0, 0},
                                  Bytes{0, 0, 0, 1, 0}, Bytes{0, 0, 0, 1, 2, 0, 7}, Bytes(252)}) {
            const Answer answer = answerTo(frame(1, function, rest));
            CHECK(answer.bytes == exception(function, isRead ? 3 : 1));
            CHECK(answer.isModbus);
            CHECK_FALSE(answer.isInside);
            ++cases;
        }
        for (const Bytes& rest :
             {Bytes{0, 0, 0, 0}, Bytes{0, 0, 0, 126}, Bytes{0xff, 0xff, 0xff, 0xff}}) {
            CHECK(answerTo(frame(1, function, rest)).bytes == exception(function, isRead ? 3 : 1));
            ++cases;
        }
        CHECK(answerTo(frame(1, function, {0xff, 0xff, 0, 2})).bytes ==
              exception(function, isRead ? 2 : 1));
        // Another protocol, and lengths that no frame has: nothing more is believed.
        for (const std::size_t length :
             {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{65'535}}) {
            Bytes bytes = read(0, 1, 1, function);
            bytes[4] = static_cast<std::uint8_t>(length >> 8U);
            bytes[5] = static_cast<std::uint8_t>(length);
            CHECK(answerTo(bytes) == Answer{{}, false, false});
            ++cases;
        }
        Bytes other = read(0, 1, 1, function);
        other[3] = 1;
        CHECK(answerTo(other) == Answer{{}, false, false});
        cases += 2;
        // A length that promises more than comes: answered at once where that can be.
        for (const std::uint8_t length : {std::uint8_t{7}, std::uint8_t{20}, std::uint8_t{254}}) {
            Bytes bytes = read(0, 1, 1, function);
            bytes[5] = length;
            CHECK(answerTo(bytes).bytes == exception(function, isRead ? 3 : 1));
            CHECK(answerTo(bytes).isInside);
            ++cases;
        }
    }
    CHECK(cases == 256 * 19);
    // The control: the same harness, and a frame that is good.
    CHECK(answerTo(read(0, 1)).bytes.size() == 11);
}

TEST_CASE("the answers do not depend on how the bytes are split")
{
    Bytes many;
    std::uint16_t transaction = 0;
    for (const Bytes& each :
         {read(0, 40), frame(1, 16, {0, 0, 0, 1, 2, 0, 7}), read(39, 1, 247), read(39, 2),
          frame(9, 4, {0, 0, 0, 1}), frame(1, 43, {14, 1, 0}), frame(1, 7, {}), read(2, 4)}) {
        many.insert(many.end(), each.begin(), each.end());
        many[many.size() - each.size()] = static_cast<std::uint8_t>(++transaction);
    }
    const Answer whole = answerTo(many);
    CHECK(whole.bytes.size() == 89 + 9 + 11 + 9 + 9 + 9 + 9 + 17);
    for (std::size_t pieces = 2; pieces <= many.size(); ++pieces)
        CHECK(answerTo(many, pieces) == whole);
    for (std::size_t cut = 0; cut <= many.size(); ++cut) {
        TwoUnits units;
        RequestReader requests;
        Bytes out;
        CHECK(requests.handle(std::span{many}.first(cut), units, out));
        CHECK(requests.handle(std::span{many}.subspan(cut), units, out));
        CHECK(out == whole.bytes);
        CHECK_FALSE(requests.isInsideFrame());
        CHECK(requests.counters().reads == 3);
        CHECK(units.reads == 3);
        CHECK(requests.counters().exceptions == 5);
    }
}

}  // namespace
}  // namespace jackpot::meters
