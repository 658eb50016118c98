// SIGINT and SIGTERM, checked at points where a command can end cleanly.
#pragma once

#include <cstdint>

namespace jackpot::cli {

// From now on SIGINT and SIGTERM only set a flag.
void catchInterrupts();
bool isInterrupted();
// A CommandError with status 130 if the flag is set.
void throwIfInterrupted();
// The same as an audit::JournalView::Pause.
inline void throwIfInterruptedWhileReading(std::uint64_t /*done*/, std::uint64_t /*total*/)
{
    throwIfInterrupted();
}

}  // namespace jackpot::cli
