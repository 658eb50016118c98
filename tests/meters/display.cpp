#include "tests/meters/display.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <utility>

namespace jackpot::meters::testing {

PoolReading readingOf(std::string_view pool, std::int64_t cents)
{
    PoolReading reading;
    reading.pool = pool;
    reading.open = true;
    reading.displayed = rules::Money::ofCents(cents);
    return reading;
}

std::uint64_t numberIn(const Registers& registers, std::size_t at, std::size_t count)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value = value << 16U | registers.at(at + i);
    return value;
}

std::string textIn(const Registers& registers, std::size_t at)
{
    std::string text;
    for (std::size_t i = at; i < at + 8; ++i)
        for (const int byte : {registers.at(i) >> 8, registers.at(i) & 0xFF})
            if (byte != 0) text += static_cast<char>(byte);
    return text;
}

Bytes readRequest(std::uint16_t first, std::uint16_t count, std::uint8_t unit,
                  std::uint16_t transaction)
{
    const auto high = [](std::uint16_t word) { return static_cast<std::uint8_t>(word >> 8U); };
    const auto low = [](std::uint16_t word) { return static_cast<std::uint8_t>(word); };
    return {high(transaction), low(transaction), 0,           0,         0, 6, unit, 4,
            high(first),       low(first),       high(count), low(count)};
}

RawDisplay::RawDisplay(std::uint16_t port, const char* from)
    : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    const auto* const plain = reinterpret_cast<const sockaddr*>(&address);
    if (from) {
        ::inet_pton(AF_INET, from, &address.sin_addr);
        if (::bind(socket_, plain, sizeof address) != 0) throw std::runtime_error{"bind"};
    }
    address.sin_port = htons(port);
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    if (::connect(socket_, plain, sizeof address) != 0) throw std::runtime_error{"connect"};
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

RawDisplay::RawDisplay(RawDisplay&& other) noexcept : socket_{std::exchange(other.socket_, -1)} {}

RawDisplay::~RawDisplay()
{
    if (socket_ >= 0) ::close(socket_);
}

void RawDisplay::send(const Bytes& bytes) const
{
    [[maybe_unused]] const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

Bytes RawDisplay::receive(std::size_t count, int timeoutMs) const
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{timeoutMs};
    Bytes bytes(count);
    std::size_t have = 0;
    while (have < count) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            end - std::chrono::steady_clock::now());
        pollfd waiting{socket_, POLLIN, 0};
        if (left.count() < 0 || ::poll(&waiting, 1, static_cast<int>(left.count()) + 1) <= 0) break;
        const auto got = ::recv(socket_, bytes.data() + have, count - have, 0);
        if (got <= 0) break;
        have += static_cast<std::size_t>(got);
    }
    bytes.resize(have);
    return bytes;
}

bool RawDisplay::isClosed(int timeoutMs) const
{
    pollfd waiting{socket_, POLLIN, 0};
    if (::poll(&waiting, 1, timeoutMs) <= 0) return false;
    std::uint8_t byte = 0;
    return ::recv(socket_, &byte, 1, MSG_PEEK) <= 0;
}

std::optional<Registers> RawDisplay::poll(std::uint8_t unit) const
{
    send(readRequest(0, kRegisters, unit));
    constexpr std::size_t kBefore = 9;
    const Bytes answer = receive(kBefore + 2 * kRegisters);
    if (answer.size() != kBefore + 2 * kRegisters) return std::nullopt;
    Registers registers{};
    for (std::size_t i = 0; i < kRegisters; ++i)
        registers.at(i) =
            static_cast<std::uint16_t>(answer[kBefore + 2 * i] << 8U | answer[kBefore + 2 * i + 1]);
    return registers;
}

}  // namespace jackpot::meters::testing
