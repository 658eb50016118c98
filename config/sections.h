// The parts of a configuration, each read from its sections of the document.
#pragma once

#include "config/config.h"
#include "config/toml_section.h"

namespace jackpot::config {

// [site], [journal], [link], [meters], [desk], [witness], [writer], [log]
void readSettings(TomlSection& document, const std::filesystem::path& base, Config& config);

// [demo], which names what the others have.
void readDemo(TomlSection section, const std::filesystem::path& base, Config& config);

// [meter.drive], as far as it does not concern other meters.
Drive readDrive(TomlSection& section);

// [[paytable]], [[pool]], [[table]], [[meter]]
void readFloor(TomlSection& document, Config& config);

}  // namespace jackpot::config
