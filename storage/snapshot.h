// The rules' state as text, to open a long journal quickly. It is trusted only after its hash was
// found in a signed record.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "rules/state.h"

namespace jackpot::storage {

// The same state gives the same bytes.
std::string writeState(const rules::State& state);

Result<rules::State> readState(std::string_view text);

}  // namespace jackpot::storage
