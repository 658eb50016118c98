// Functions that read the parts of a configuration from their sections of the document.
#pragma once

#include "config/config.h"
#include "config/toml_section.h"

namespace jackpot::config {

// [site], [journal], [link], [meters], [desk], [witness], [writer], [log]
void readSettings(TomlSection& document, const std::filesystem::path& base, Config& config);

// [demo], which refers to tables and the desk.
void readDemo(TomlSection section, const std::filesystem::path& base, Config& config);

// [meter.drive], without the checks against other meters.
Drive readDrive(TomlSection& section);

// [[paytable]], [[pool]], [[table]], [[meter]]
void readFloor(TomlSection& document, Config& config);

}  // namespace jackpot::config
