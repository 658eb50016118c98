#include <doctest/doctest.h>

#include "jackpotd/displays.h"

namespace jackpot {
namespace {

TEST_CASE("a meter's drive becomes a driven display, key by key")
{
    config::Meter meter;
    meter.id = "sign";
    config::Drive drive;
    drive.to = config::SerialPort{"/dev/ttyS0", 9600, config::Parity::Odd, 2};
    drive.unit = 247;
    drive.format = "ascii_dollars";
    drive.digits = 9;
    drive.lowFirst = true;
    drive.address = 65'500;
    drive.statusAddress = 65'535;
    drive.function = 6;
    drive.readBack = true;
    drive.timeoutMs = 700;
    drive.heartbeatMs = 800;
    meter.drive = drive;

    meters::DrivenDisplay expected;
    expected.id = "sign";
    expected.pool = 3;
    expected.line = meters::SerialAddress{"/dev/ttyS0", 9600, 'O', 2};
    expected.unit = 247;
    expected.format = {.kind = meters::Kind::Ascii,
                       .dollars = true,
                       .digits = 9,
                       .lowFirst = true,
                       .address = 65'500,
                       .statusAddress = 65'535,
                       .oneByOne = true};
    expected.readBack = true;
    expected.timeout = std::chrono::milliseconds{700};
    expected.heartbeat = std::chrono::milliseconds{800};
    CHECK(toDrivenDisplay(meter, 3) == expected);
}

TEST_CASE("the defaults of a drive are those of a driven display")
{
    config::Meter meter;
    meter.drive.emplace().to = config::SerialPort{};
    CHECK(toDrivenDisplay(meter, 0).line == meters::LineAddress{meters::SerialAddress{}});
    meter.drive->to = config::Endpoint{"::1", 502};
    meters::DrivenDisplay expected;
    expected.line = meters::TcpAddress{"::1", 502};
    CHECK(toDrivenDisplay(meter, 0) == expected);
}

}  // namespace
}  // namespace jackpot
