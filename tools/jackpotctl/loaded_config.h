#pragma once

#include <filesystem>

#include "config/config.h"

namespace jackpot::ctl {

// The configuration in the file. Prints its problems, and throws a CommandError, if it has any.
config::Config loadedConfig(const std::filesystem::path& file);

}  // namespace jackpot::ctl
