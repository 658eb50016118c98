#include "console/desk/demo_dealers.h"

#include <type_traits>

#include "console/desk/desk_requests.h"

namespace jackpot::console {
namespace {

Reply noDemoFloor()
{
    return errorReply(
        404, "no_demo_floor",
        "this daemon has no demo tables; the section [demo] of the configuration names them "
        "(see docs/demo.md)");
}

// A route that reads an action from the body and performs it at the table of the path.
template <class Action>
Route action(DemoDealers* dealers, std::string_view pattern,
             Result<Action> (*read)(std::string_view))
{
    return {"POST",
            pattern,
            Access::SignedIn,
            {},
            Owner::Refused,
            [dealers, read](const Request& request) {
                if (!dealers) return noDemoFloor();
                auto given = read(request.body);
                if (!given) return errorReply(400, "bad_body", given.error().message);
                if constexpr (std::is_same_v<Action, rules::CorrectResult>)
                    given->result.table = request.path.at("table");
                else
                    given->table = request.path.at("table");
                if constexpr (requires { given->by; }) given->by = {request.person.name};
                return dealers->perform(request.path.at("table"), *given);
            }};
}

}  // namespace

std::vector<Route> demoRoutes(DemoDealers* dealers)
{
    return {
        {"GET",
         "/api/v1/demo/tables/{table}",
         Access::SignedIn,
         {},
         Owner::Allowed,
         [dealers](const Request& request) {
             return dealers ? dealers->readTable(request.path.at("table")) : noDemoFloor();
         }},
        action(dealers, "/api/v1/demo/tables/{table}/round", readOpenRound),
        action(dealers, "/api/v1/demo/tables/{table}/result", readReportResult),
        action(dealers, "/api/v1/demo/tables/{table}/confirm", readConfirmation),
        action(dealers, "/api/v1/demo/tables/{table}/correct", readDealerCorrection),
        action(dealers, "/api/v1/demo/tables/{table}/close", readCloseRound),
        action(dealers, "/api/v1/demo/tables/{table}/void", readDealerVoid),
    };
}

}  // namespace jackpot::console
