#include "meters/reading.h"

#include <utility>

namespace jackpot::meters {

std::string inWords(const PoolStatus& status)
{
    std::string text = status.open ? "open" : "closed";
    for (const auto& [is, word] : {std::pair{status.pending, ", jackpot pending"},
                                   {status.held, ", held for surveillance"},
                                   {status.winShown, ", jackpot won"},
                                   {status.journalUnavailable, ", journal unavailable"},
                                   {status.fault, ", fault"}})
        if (is) text += word;
    return text;
}

}  // namespace jackpot::meters
