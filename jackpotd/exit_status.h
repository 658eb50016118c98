// The exit statuses of jackpotd that are not those of the journal's errors (storage/journal.h).
#pragma once

namespace jackpot {

inline constexpr int kExitCannotStart = 2;
inline constexpr int kExitFault = 70;  // EX_SOFTWARE: a fault of the program itself

}  // namespace jackpot
