#include "jackpotd/driven.h"

namespace jackpot {
namespace {

meters::LineAddress lineOf(const std::variant<config::Endpoint, config::SerialPort>& to)
{
    if (const auto* tcp = std::get_if<config::Endpoint>(&to))
        return meters::TcpAddress{tcp->host, tcp->port};
    const auto& port = std::get<config::SerialPort>(to);
    char parity = 'N';
    if (port.parity == config::Parity::Even) parity = 'E';
    if (port.parity == config::Parity::Odd) parity = 'O';
    return meters::SerialAddress{port.device, static_cast<int>(port.baud), parity,
                                 static_cast<int>(port.stopBits)};
}

}  // namespace

meters::DrivenDisplay toDrivenDisplay(const config::Meter& meter, std::size_t pool)
{
    const config::Drive& drive = meter.drive.value();
    meters::DrivenDisplay display;
    display.id = meter.id;
    display.pool = pool;
    display.line = lineOf(drive.to);
    display.unit = static_cast<std::uint8_t>(drive.unit);
    display.format = meters::formatNamed(drive.format).value();
    display.format.digits = static_cast<std::size_t>(drive.digits);
    display.format.lowFirst = drive.lowFirst;
    display.format.address = static_cast<std::uint16_t>(drive.address);
    if (drive.statusAddress)
        display.format.statusAddress = static_cast<std::uint16_t>(*drive.statusAddress);
    display.format.oneByOne = drive.function == 6;
    display.readBack = drive.readBack;
    display.timeout = std::chrono::milliseconds{drive.timeoutMs};
    display.heartbeat = std::chrono::milliseconds{drive.heartbeatMs};
    return display;
}

}  // namespace jackpot
