#include <algorithm>
#include <array>

#include "config/address.h"
#include "config/identifiers.h"
#include "config/sections.h"

namespace jackpot::config {
namespace {

constexpr std::int64_t kMaxUnit = 247;  // Modbus over serial line 2.2
constexpr std::int64_t kUnitOfDevice =
    255;  // Modbus on TCP/IP 4.4.2: the device itself, without a gateway
constexpr std::int64_t kMaxAddress = 65'535;
// The rates of termios. libmodbus silently uses 9600 for any other rate.
constexpr std::array<std::int64_t, 8> kBauds{1200,   2400,   4800,   9600,
                                             19'200, 38'400, 57'600, 115'200};

constexpr std::string_view kTcp = "tcp://";
constexpr std::string_view kRtu = "rtu://";

bool hasDigits(std::string_view format)
{
    return format.starts_with("bcd_") || format.starts_with("ascii_");
}

std::int64_t registerCount(const Drive& drive)
{
    if (drive.format == "block") return 40;
    if (drive.format.starts_with("uint64_")) return 4;
    if (drive.format.starts_with("bcd_")) return (drive.digits + 3) / 4;
    if (drive.format.starts_with("ascii_")) return drive.digits;
    return 2;
}

SerialPort readPort(TomlSection& section, std::string device)
{
    SerialPort port;
    port.device = std::move(device);
    const Value baud = section["baud"];
    if (baud.isThere()) port.baud = baud.integer();
    if (!section.isBad("baud") && std::ranges::find(kBauds, port.baud) == kBauds.end())
        baud.error(std::to_string(port.baud) +
                   " is none: it takes 1200, 2400, 4800, 9600, 19200, 38400, 57600 or 115200");
    if (const auto parity =
            section["parity"].oneOf({idOf(Parity::None), idOf(Parity::Even), idOf(Parity::Odd)}))
        port.parity = static_cast<Parity>(*parity);
    port.stopBits = section["stop_bits"].integer(port.stopBits, 1, 2);
    return port;
}

std::variant<Endpoint, SerialPort> readLine(TomlSection& section)
{
    const Value to = section.required("to");
    const std::string text = to.text();
    const std::string_view line = text;
    if (line.starts_with(kRtu) && line.substr(kRtu.size()).starts_with('/'))
        return readPort(section, text.substr(kRtu.size()));
    (void)readPort(section, {});  // so that its keys are known
    if (section.isBad("to")) return {};
    const auto endpoint =
        line.starts_with(kTcp) ? endpointIn(line.substr(kTcp.size())) : std::nullopt;
    if (!endpoint || endpoint->port == 0) {
        to.error(inQuotes(text) +
                 " is no line: it takes \"tcp://10.1.2.3:502\", \"tcp://sign.example:502\" or "
                 "\"tcp://[::1]:502\", or a device as in \"rtu:///dev/ttyUSB0\"");
        return {};
    }
    for (const std::string_view key : {"baud", "parity", "stop_bits"})
        if (section[key].isThere()) section.error(key, "only a serial line has this, not " + text);
    return *endpoint;
}

void readFormat(TomlSection& section, Drive& drive)
{
    const auto formats = {std::string_view{"block"},          std::string_view{"uint32_cents"},
                          std::string_view{"uint32_dollars"}, std::string_view{"uint64_cents"},
                          std::string_view{"uint64_dollars"}, std::string_view{"bcd_cents"},
                          std::string_view{"bcd_dollars"},    std::string_view{"ascii_cents"},
                          std::string_view{"ascii_dollars"},  std::string_view{"float32_cents"},
                          std::string_view{"float32_dollars"}};
    if (const auto format = section["format"].oneOf(formats))
        drive.format = *(formats.begin() + *format);
    const Value digits = section["digits"];
    if (digits.isThere()) drive.digits = digits.integer(1, 1, 16);
    const Value order = section["word_order"];
    drive.lowFirst = order.oneOf({"high_first", "low_first"}) == 1;
    const Value statusAddress = section["status_address"];
    if (statusAddress.isThere()) drive.statusAddress = statusAddress.integer(0, 0, kMaxAddress);
    if (section.isBad("format")) return;

    if (hasDigits(drive.format) && !digits.isThere())
        section.error("digits", "this is missing: say how many digits the display has");
    if (!hasDigits(drive.format) && digits.isThere())
        digits.error("only the formats bcd_... and ascii_... have this");
    if (drive.format != "block") return;
    if (order.isThere()) order.error("the format \"block\" has an order of its own");
    if (statusAddress.isThere())
        statusAddress.error("the format \"block\" has the status in its second register");
}

void readAddresses(TomlSection& section, Drive& drive)
{
    const Value address = section["address"];
    drive.address = address.integer(drive.address, 0, kMaxAddress);
    const Value function = section["function"];
    if (function.isThere()) drive.function = function.integer();
    if (!section.isBad("function") && drive.function != 6 && drive.function != 16)
        function.error("takes 16, which writes all registers at once, or 6, which writes each");
    for (const std::string_view key : {"address", "format", "digits", "status_address"})
        if (section.isBad(key)) return;

    const std::int64_t last = drive.address + registerCount(drive) - 1;
    if (last > kMaxAddress)
        address.error("the last register would be " + std::to_string(last) +
                      ", and there is none above 65535");
    else if (drive.statusAddress && drive.address <= *drive.statusAddress &&
             *drive.statusAddress <= last)
        section.error("status_address", std::to_string(*drive.statusAddress) +
                                            " is in the amount's registers, which are " +
                                            std::to_string(drive.address) + " to " +
                                            std::to_string(last));
    if (drive.function == 6 && drive.format.starts_with("uint") && !drive.statusAddress)
        function.error("a \"" + drive.format +
                       "\" in pieces would be a wrong amount until the last: give a "
                       "status_address, which shows a fault until then, or use function 16");
}

}  // namespace

std::string_view idOf(Parity parity)
{
    switch (parity) {
        case Parity::None: return "none";
        case Parity::Even: return "even";
        case Parity::Odd: return "odd";
    }
    return "";
}

std::string inWords(const std::variant<Endpoint, SerialPort>& line)
{
    if (const auto* port = std::get_if<SerialPort>(&line)) return std::string{kRtu} + port->device;
    const auto& to = std::get<Endpoint>(line);
    const bool isIpv6 = to.host.find(':') != std::string::npos;
    return std::string{kTcp} + (isIpv6 ? "[" + to.host + "]" : to.host) + ":" +
           std::to_string(to.port);
}

Drive readDrive(TomlSection& section)
{
    Drive drive;
    drive.to = readLine(section);
    const bool tcp = std::holds_alternative<Endpoint>(drive.to);
    const Value unit = section.required("unit");
    drive.unit = unit.integer(1, 0, kUnitOfDevice);
    if (!section.isBad("unit") && !section.isBad("to") &&
        (drive.unit == 0 || (drive.unit > kMaxUnit && (!tcp || drive.unit != kUnitOfDevice))))
        unit.error(std::to_string(drive.unit) +
                   " is no display's: it takes 1 to 247 or, over TCP, 255; 0 would be all at once");
    readFormat(section, drive);
    readAddresses(section, drive);
    drive.readBack = section["read_back"].boolean(drive.readBack);
    drive.timeoutMs = section["timeout_ms"].integer(drive.timeoutMs, 50, 2000);
    drive.heartbeatMs = section["heartbeat_ms"].integer(drive.heartbeatMs, 100, 60'000);
    section.refuseUnknownKeys();
    return drive;
}

}  // namespace jackpot::config
