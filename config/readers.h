// The parts of a configuration, each read from its sections of the document.
#pragma once

#include "config/config.h"
#include "config/section.h"

namespace jackpot::config {

// [site], [journal], [link], [desk], [writer], [log]
void readSettings(Section& document, const std::filesystem::path& base, Config& config);

// [[paytable]], [[pool]], [[table]], [[meter]]
void readFloor(Section& document, Config& config);

}  // namespace jackpot::config
