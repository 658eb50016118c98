// A meter that the configuration says to drive, as the master of the displays takes it.
#pragma once

#include "config/config.h"
#include "meters/modbus_master.h"

namespace jackpot {

// `pool` is the place of the meter's pool on the board. The meter has a drive.
meters::DrivenDisplay toDrivenDisplay(const config::Meter& meter, std::size_t pool);

}  // namespace jackpot
