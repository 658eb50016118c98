// The function with which people and desk append events to the journal. An event is a record that
// is not a command.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "storage/json_text.h"

namespace jackpot::console {

using EventFields = std::function<void(storage::JsonText&)>;

// `kind` is in the past tense, such as "person_signed_in". No field may have a key of a command's
// outcome ("command", "refused", "pools", ...): a journal with such a record cannot be opened.
// Returns the record's number once the record is durable and signed. Any thread.
using AppendEvent = std::function<Result<std::uint64_t>(std::string kind, EventFields fields)>;

}  // namespace jackpot::console
