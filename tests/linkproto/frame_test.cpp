#include "linkproto/frame.h"

#include <doctest/doctest.h>

#include <random>
#include <stdexcept>
#include <vector>

namespace jackpot::linkproto {
namespace {

std::string framed(std::string_view payload)
{
    std::string bytes;
    appendFrameHead(bytes, payload.size());
    return bytes.append(payload);
}

std::vector<std::string> framesIn(FrameReader& reader)
{
    std::vector<std::string> frames;
    while (const auto frame = reader.next()) frames.emplace_back(*frame);
    return frames;
}

}  // namespace

TEST_CASE("frames are complete however the stream was split")
{
    const std::vector<std::string> payloads{"a", "bc", std::string(300, 'd'), "e"};
    std::string stream;
    for (const auto& payload : payloads) stream += framed(payload);
    for (std::size_t first = 0; first <= stream.size(); ++first) {
        for (std::size_t second = first; second <= stream.size(); second += 7) {
            FrameReader reader;
            std::vector<std::string> frames;
            for (const auto& piece : {stream.substr(0, first), stream.substr(first, second - first),
                                      stream.substr(second)}) {
                reader.buffer() += piece;
                for (auto& frame : framesIn(reader)) frames.push_back(std::move(frame));
            }
            REQUIRE(frames == payloads);
            REQUIRE_FALSE(reader.isInsideFrame());
        }
    }
}

TEST_CASE("frames are complete when read byte by byte, and a partial frame is reported")
{
    FrameReader reader;
    const std::string stream = framed("hello") + framed("there");
    std::vector<std::string> frames;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        reader.buffer() += stream[i];
        for (auto& frame : framesIn(reader)) frames.push_back(std::move(frame));
        CHECK(reader.isInsideFrame() == ((i + 1) % 9 != 0));
    }
    CHECK(frames == std::vector<std::string>{"hello", "there"});
}

TEST_CASE("the longest frame is accepted, one byte more is a fault")
{
    FrameReader good;
    good.buffer() += framed(std::string(kMaxFrameBytes, 'x'));
    CHECK(framesIn(good).at(0).size() == 16384);
    CHECK(good.fault() == FrameReader::Fault::None);

    FrameReader bad;
    bad.buffer() += std::string{"\x00\x00\x40\x01", 4};
    CHECK(framesIn(bad).empty());
    CHECK(bad.fault() == FrameReader::Fault::TooLong);

    std::string out;
    CHECK_THROWS_AS(appendFrameHead(out, kMaxFrameBytes + 1), std::length_error);
    CHECK_THROWS_AS(appendFrameHead(out, 0), std::length_error);
    CHECK(out.empty());
}

TEST_CASE("an empty frame is a fault, after the frames before it were read")
{
    FrameReader reader;
    reader.buffer() += framed("first") + std::string(4, '\0') + framed("never");
    CHECK(framesIn(reader) == std::vector<std::string>{"first"});
    CHECK(reader.fault() == FrameReader::Fault::Empty);
    reader.buffer() += framed("never");
    CHECK(framesIn(reader).empty());
}

TEST_CASE("random bytes give frames within the limits or a fault")
{
    std::mt19937 random{20261116};
    for (int run = 0; run < 2000; ++run) {
        FrameReader reader;
        for (int piece = 0; piece < 20; ++piece) {
            std::string bytes(random() % 64, '\0');
            for (char& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? random() : 0);
            reader.buffer() += bytes;
            for (const auto& frame : framesIn(reader)) {
                REQUIRE_FALSE(frame.empty());
                REQUIRE(frame.size() <= kMaxFrameBytes);
            }
        }
    }
}

}  // namespace jackpot::linkproto
