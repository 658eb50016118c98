// The tables of a demo floor, whose dealers play in a browser (docs/demo.md).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "console/people/access.h"
#include "rules/commands.h"

namespace jackpot::console {

using DealerAction =
    std::variant<rules::OpenRound, rules::ReportResult, rules::ConfirmJackpot, rules::VoidRound>;

// What the daemon does for the routes. Any thread.
class Dealers {
public:
    virtual ~Dealers() = default;
    // The table as its dealer sees it.
    virtual Reply look(const std::string& table) = 0;
    // The same after the action was sent over the table's link: 200 where it is decided, 202 where
    // it waits in the outbox, else why it was refused.
    virtual Reply act(const std::string& table, const DealerAction& action) = 0;
};

// They are there without a demo floor too, and then say so.
std::vector<Route> dealerRoutes(Dealers* dealers);

}  // namespace jackpot::console
