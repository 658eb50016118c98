#include "meters/modbus_codec.h"

#include <algorithm>

namespace jackpot::meters {
namespace {

using Bytes = std::span<const std::uint8_t>;

// MODBUS Messaging on TCP/IP 3.1.3: transaction, protocol (0), length of the rest; then unit and
// function.
constexpr std::size_t kProtocolAt = 2;
constexpr std::size_t kLengthAt = 4;
constexpr std::size_t kUnitAt = 6;
constexpr std::size_t kFunctionAt = 7;
constexpr std::size_t kHeaderBytes = 8;
constexpr std::size_t kBytesBeforeUnit = 6;
constexpr std::size_t kMinLength = 2;
constexpr std::size_t kMaxLength = 254;
constexpr std::size_t kReadLength = 6;

constexpr std::uint8_t kReadHolding = 3;
constexpr std::uint8_t kReadInput = 4;
constexpr std::size_t kMaxRegistersPerRead = 125;

constexpr std::uint8_t kIllegalFunction = 1;
constexpr std::uint8_t kIllegalAddress = 2;
constexpr std::uint8_t kIllegalValue = 3;
constexpr std::uint8_t kNoSuchUnit = 11;

std::size_t wordAt(Bytes bytes, std::size_t at)
{
    return static_cast<std::size_t>(bytes[at] << 8U | bytes[at + 1]);
}

}  // namespace

bool RequestReader::handle(Bytes bytes, UnitSource& units, std::vector<std::uint8_t>& out)
{
    for (;;) {
        const std::size_t skipped = std::min(skip_, bytes.size());
        skip_ -= skipped;
        bytes = bytes.subspan(skipped);
        if (bytes.empty()) return true;

        if (held_ > 0) {
            const std::size_t taken = std::min(kReadBytes - held_, bytes.size());
            std::ranges::copy(bytes.first(taken),
                              beginning_.begin() + static_cast<std::ptrdiff_t>(held_));
            const std::size_t before = held_;
            held_ = 0;
            Bytes frame = Bytes{beginning_}.first(before + taken);
            const std::size_t size = frame.size();
            const Outcome outcome = handleFrame(frame, units, out);
            if (outcome == Outcome::NotModbus) return false;
            if (outcome == Outcome::NeedsMore) {
                held_ = size;
                bytes = bytes.subspan(taken);
                continue;
            }
            bytes = bytes.subspan(size - frame.size() - before);
            continue;
        }
        const Outcome outcome = handleFrame(bytes, units, out);
        if (outcome == Outcome::NotModbus) return false;
        if (outcome == Outcome::NeedsMore) {
            std::ranges::copy(bytes, beginning_.begin());
            held_ = bytes.size();
            return true;
        }
    }
}

// Removes one frame from the front of `bytes`, or the received part of a frame that can be
// answered.
RequestReader::Outcome RequestReader::handleFrame(Bytes& bytes, UnitSource& units,
                                                  std::vector<std::uint8_t>& out)
{
    if (bytes.size() >= kLengthAt && wordAt(bytes, kProtocolAt) != 0) return Outcome::NotModbus;
    if (bytes.size() < kUnitAt) return Outcome::NeedsMore;
    const std::size_t length = wordAt(bytes, kLengthAt);
    if (length < kMinLength || length > kMaxLength) return Outcome::NotModbus;
    if (bytes.size() < kHeaderBytes) return Outcome::NeedsMore;
    const std::uint8_t function = bytes[kFunctionAt];
    const bool isRead =
        (function == kReadHolding || function == kReadInput) && length == kReadLength;
    if (isRead && bytes.size() < kReadBytes) return Outcome::NeedsMore;

    answer(bytes, units, out);
    const std::size_t frame = kBytesBeforeUnit + length;
    const std::size_t there = std::min(frame, bytes.size());
    skip_ = frame - there;
    bytes = bytes.subspan(there);
    return Outcome::Handled;
}

void RequestReader::answer(Bytes frame, UnitSource& units, std::vector<std::uint8_t>& out)
{
    if (!units.has(frame[kUnitAt])) return appendException(frame, kNoSuchUnit, out);
    const std::uint8_t function = frame[kFunctionAt];
    if (function != kReadHolding && function != kReadInput)
        return appendException(frame, kIllegalFunction, out);
    if (wordAt(frame, kLengthAt) != kReadLength) return appendException(frame, kIllegalValue, out);
    const std::size_t first = wordAt(frame, kHeaderBytes);
    const std::size_t count = wordAt(frame, kHeaderBytes + 2);
    if (count == 0 || count > kMaxRegistersPerRead)
        return appendException(frame, kIllegalValue, out);
    if (first + count > kRegisters) return appendException(frame, kIllegalAddress, out);

    ++counters_.reads;
    const Registers& registers = units.read(frame[kUnitAt]);
    const auto bytes = static_cast<std::uint8_t>(2 * count);
    const std::size_t at = out.size();
    out.resize(at + kHeaderBytes + 1 + bytes);
    std::uint8_t* to = out.data() + at;
    for (const std::uint8_t each :
         {frame[0], frame[1], std::uint8_t{0}, std::uint8_t{0}, std::uint8_t{0},
          static_cast<std::uint8_t>(bytes + 3), frame[kUnitAt], function, bytes})
        *to++ = each;
    for (std::size_t i = first; i < first + count; ++i) {
        *to++ = static_cast<std::uint8_t>(registers[i] >> 8U);
        *to++ = static_cast<std::uint8_t>(registers[i]);
    }
}

void RequestReader::appendException(Bytes frame, std::uint8_t exception,
                                    std::vector<std::uint8_t>& out)
{
    ++counters_.exceptions;
    constexpr std::uint8_t kExceptionBit = 0x80;
    for (const std::uint8_t each :
         {frame[0], frame[1], std::uint8_t{0}, std::uint8_t{0}, std::uint8_t{0}, std::uint8_t{3},
          frame[kUnitAt], static_cast<std::uint8_t>(frame[kFunctionAt] | kExceptionBit), exception})
        out.push_back(each);
}

}  // namespace jackpot::meters
