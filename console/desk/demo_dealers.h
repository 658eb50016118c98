// Routes for the tables of a demonstration, whose dealers work in a browser (docs/demo.md).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "console/people/access.h"
#include "rules/commands.h"

namespace jackpot::console {

using DealerAction = std::variant<rules::OpenRound, rules::ReportResult, rules::CorrectResult,
                                  rules::ConfirmJackpot, rules::CloseRound, rules::VoidRound>;

// Implemented by the daemon. Thread-safe.
class DemoDealers {
public:
    virtual ~DemoDealers() = default;
    // The table as its dealer sees it, as JSON.
    virtual Reply readTable(const std::string& table) = 0;
    // Sends the action over the table's link and returns the table: 200 if the action is decided,
    // 202 if it waits in the outbox; an error reply if it was refused.
    virtual Reply perform(const std::string& table, const DealerAction& action) = 0;
};

// Without demo tables (`dealers` is null) every route answers 404 with the reason.
std::vector<Route> demoRoutes(DemoDealers* dealers);

}  // namespace jackpot::console
