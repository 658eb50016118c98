// Any body for any of the desk's routes: it is answered in JSON, the rules' invariants hold, and
// what was refused has changed nothing.
#include <rapidjson/document.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "console/desk/desk_api.h"
#include "rules/invariants.h"
#include "tests/fuzz/require.h"
#include "tests/support/rules_fixture.h"

namespace {

using namespace jackpot;

// Two claims held, one award due, a round under way.
rules::RulesFixture prepared()
{
    rules::RulesFixture floor{rules::blazingPool(), 4};
    for (const char* table : {"T1", "T2", "T3"}) {
        (void)floor.open(table, 1, {2});
        (void)floor.result(table, 1, {"7H"}, {{2, {"7H", "7H"}}});
        (void)floor.confirm(table, 1);
        if (table == std::string{"T1"}) (void)floor.wait(10'000);
    }
    (void)floor.open("T4", 1, {1, 2});
    (void)floor.result("T4", 1, {"7H"}, {{2, {"7C", "7S"}}});
    return floor;
}

struct Fuzzed {
    rules::RulesFixture floor = prepared();
    std::uint64_t records = 0;
    ChangeSignal changes;
    console::SearchIndex book{{"/nonexistent", {}, std::chrono::milliseconds{1000}, 1}, changes};
    console::DeskApi desk{
        {"/nonexistent", rules::Money::ofDollars(10'000), std::chrono::hours{24},
         std::chrono::milliseconds{0}, std::chrono::milliseconds{0}, [this] { return floor.now; }},
        {[this](rules::Command command) -> Result<rules::Outcome> { return floor.give(command); },
         [this](std::string, console::EventFields fields) -> Result<std::uint64_t> {
             std::string text;
             storage::JsonText json{text};
             json.beginObject();
             fields(json);
             json.endObject();
             REQUIRE_HOLDS(json.isFaithful());
             return records++;
         },
         [this]() -> Result<std::shared_ptr<const rules::State>> {
             return std::make_shared<const rules::State>(floor.state);
         },
         []() -> Result<console::Controller::Lock> {
             return console::Controller::Lock{"behind", 1, 9, "root", {"T1"}};
         },
         [this](console::Controller::Acceptance) -> Result<std::uint64_t> { return records++; },
         [](const std::string&) { return std::optional<std::string>{"{}"}; },
         [] { return std::string{"{}"}; }},
        book};
    std::vector<console::Route> routes = desk.routes();
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static Fuzzed fuzzed;
    static const rules::RulesFixture start = fuzzed.floor;
    if (size == 0) return 0;
    fuzzed.floor = start;
    const console::Route& route = fuzzed.routes[data[0] % fuzzed.routes.size()];
    console::Request request;
    request.method = route.method;
    request.person = {"Ann", console::Role::Supervisor};
    request.path = {{"pool", "B7"}, {"table", "T1"}, {"round", "1"},        {"seat", "2"},
                    {"id", "1"},    {"seq", "1"},    {"report", "wins.txt"}};
    request.body.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
    const console::Reply reply = route.handle(request);
    rapidjson::Document json;
    json.Parse<rapidjson::kParseValidateEncodingFlag>(reply.body.data(), reply.body.size());
    REQUIRE_HOLDS(!json.HasParseError());
    REQUIRE_HOLDS(rules::checkWhole(fuzzed.floor.state).empty());
    const bool client = reply.status >= 400 && reply.status < 500;
    const bool good = reply.status == 200 || reply.status == 202 || reply.status == 503;
    REQUIRE_HOLDS(client || good);
    if (client) REQUIRE_HOLDS(fuzzed.floor.state == start.state);
    return 0;
}
