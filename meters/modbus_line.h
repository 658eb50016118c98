// One line to driven displays, through libmodbus: a TCP endpoint, perhaps a gateway with several
// units behind it, or a serial device, perhaps a bus. One thread's at a time.
//
// libmodbus 3.1.6 is kept from its faults. Its select() writes beyond its set from descriptor 1024
// on, so a line has a number below that from the beginning and never gives it back. Its own write
// functions check neither the unit of a TCP reply nor what address and value it confirms, so
// requests are sent and replies compared here.
#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "meters/reading.h"

struct _modbus;
struct addrinfo;

namespace jackpot::meters {

struct TcpAddress {
    std::string host;  // an address or a name; IPv6 without its brackets
    std::uint16_t port = 502;

    bool operator==(const TcpAddress&) const = default;
};

struct SerialAddress {
    std::string device;
    int baud = 19'200;  // one that termios knows: libmodbus takes 9600 for any other
    char parity = 'E';  // 'N', 'E' or 'O'
    int stopBits = 1;

    bool operator==(const SerialAddress&) const = default;
};

using LineAddress = std::variant<TcpAddress, SerialAddress>;

// A descriptor below FD_SETSIZE that is ours until the end. While nothing else is there /dev/null
// is.
class LowDescriptor {
public:
    static Result<LowDescriptor> reserve();
    LowDescriptor(LowDescriptor&& other) noexcept;
    LowDescriptor& operator=(LowDescriptor&& other) noexcept;
    ~LowDescriptor();

    [[nodiscard]] int number() const { return number_; }
    // In place of what is there, which is closed. Takes `descriptor` over.
    void put(int descriptor) const;
    void clear() const;

private:
    explicit LowDescriptor(int number) : number_{number} {}

    int number_;
};

class Line {
public:
    Line(LineAddress address, LowDescriptor descriptor);
    ~Line();
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

    // Does nothing where it is open and in order. A peer may close a connection between requests.
    Result<void> open(Clock::time_point deadline);

    // On an open line. An error says that the display did not confirm it, not that it did not take
    // it. After one the line may be closed.
    Result<void> write(std::uint8_t unit, std::uint16_t address,
                       std::span<const std::uint16_t> values, Clock::time_point deadline);
    // The same by function 6; one value.
    Result<void> writeOne(std::uint8_t unit, std::uint16_t address, std::uint16_t value,
                          Clock::time_point deadline);
    // Reads the holding registers; anything but these values is an error.
    Result<void> readBack(std::uint8_t unit, std::uint16_t address,
                          std::span<const std::uint16_t> values, Clock::time_point deadline);

    // Closes it; the descriptor is for another line.
    LowDescriptor release();

private:
    using Bytes = std::vector<std::uint8_t>;
    using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

    Result<Addresses> lookUp(const TcpAddress& to, Clock::time_point deadline);
    Result<void> connect(const TcpAddress& to, Clock::time_point deadline);
    Result<void> openDevice();
    Result<void> waitUntilQuiet(const SerialAddress& serial, Clock::time_point deadline);
    // Both begin with the unit, as on a serial line, and are without checksum.
    Result<void> exchange(const Bytes& request, const Bytes& expected, Clock::time_point deadline);
    bool send(const Bytes& request);
    Error failed(const std::string& what, bool deviceIsGone = false);
    void close();

    LineAddress address_;
    LowDescriptor descriptor_;
    std::unique_ptr<_modbus, void (*)(_modbus*)> modbus_;
    bool open_ = false;
    std::uint16_t transaction_ = 0;
    std::future<Result<Addresses>> lookup_;
};

}  // namespace jackpot::meters
