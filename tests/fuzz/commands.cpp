// Any bytes of a table: frames, messages, commands, decisions. Whatever they are, the rules'
// invariants hold, a record reads back as the command it was written from, and the reply to
// the table fits a frame.
#include <cstdint>
#include <string>

#include "jackpotd/replies.h"
#include "link.pb.h"
#include "linkproto/frame.h"
#include "linkproto/server/server_codec.h"
#include "rules/invariants.h"
#include "storage/record.h"
#include "tests/fuzz/require.h"
#include "tests/support/rules_fixture.h"

namespace {

using namespace jackpot;
namespace v2 = link::v2;

void decide(rules::RulesFixture& floor, const v2::Command& message)
{
    const std::string table = message.number() % 2 == 0 ? "T1" : "T2";
    const auto command = linkproto::readCommand(
        message, table, [](std::string_view card) { return "p-" + std::string{card}; });
    if (!command) {
        REQUIRE_HOLDS(!command.error().message.empty());
        return;
    }
    std::string payload;
    const storage::LinkOrigin from{message.number() >> 1U, message.clock_ms()};
    REQUIRE_HOLDS(storage::beginCommandRecord(payload, 7, floor.now, *command, from));
    const rules::Outcome outcome = floor.give(*command);
    storage::finishCommandRecord(payload, outcome, floor.state);
    const auto record = storage::readRecord(payload);
    REQUIRE_HOLDS(record && record->command == *command && record->from == from);
    REQUIRE_HOLDS(rules::checkWhole(floor.state).empty());

    const auto index = *floor.state.findTable(table);
    Replies replies;
    replies.addDecision({0, index}, 1, 7, outcome, floor.state);
    replies.addState({0, index}, floor.state);
    const linkproto::Delivery delivery = replies.release();
    v2::Decision decision;
    linkproto::writeDecision(decision, std::get<linkproto::Decision>(delivery.outgoing[0].reply));
    const v2::ToTable state = linkproto::toMessage(
        *std::get<std::unique_ptr<linkproto::TableState>>(delivery.outgoing[1].reply));
    REQUIRE_HOLDS(decision.number() == 1 && decision.has_refusal() == outcome.refusal.has_value());
    REQUIRE_HOLDS(decision.ByteSizeLong() < linkproto::kMaxFrameBytes - 1024);
    REQUIRE_HOLDS(state.ByteSizeLong() < linkproto::kMaxFrameBytes - 1024);
    (void)floor.wait(message.clock_ms() & 0xFFF);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    rules::RulesFixture floor{data[0] % 2 == 0 ? rules::blazingPool() : rules::holdemPool(), 2};
    linkproto::FrameReader reader;
    reader.buffer().assign(reinterpret_cast<const char*>(data) + 1, size - 1);
    while (const auto frame = reader.next()) {
        v2::ToDaemon message;
        if (!message.ParseFromArray(frame->data(), static_cast<int>(frame->size()))) break;
        if (message.has_command()) decide(floor, message.command());
    }
    return 0;
}
