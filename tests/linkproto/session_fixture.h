// A table's session and the daemon behind it, without sockets.
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "linkproto/client/table_session.h"
#include "linkproto/frame.h"
#include "tests/linkproto/fake_daemon_logic.h"

namespace jackpot::linkproto::testing {

using link::v2::Command;
using link::v2::Goodbye;
using link::v2::Rejected;
using link::v2::ToDaemon;
using link::v2::ToTable;
using Strings = std::vector<std::string>;
using Numbers = std::vector<std::uint64_t>;

inline Command openRound(std::int64_t round, int wagers = 1)
{
    Command command;
    command.mutable_open_round()->set_round(round);
    for (int seat = 1; seat <= wagers; ++seat)
        command.mutable_open_round()->add_wagers()->set_seat(seat);
    return command;
}

inline Command reportResult(std::int64_t round)
{
    Command command;
    command.mutable_report_result()->set_round(round);
    command.mutable_report_result()->add_board("7D");
    return command;
}

// A session, the daemon behind it, and a clock; records the events of the session.
class Table : public TableEvents {
public:
    explicit Table(Outbox outbox = Outbox::inMemory())
        : session{std::move(outbox), *this, "test", 7}
    {}

    void onWelcome(const link::v2::Welcome&) override { events.emplace_back("welcome"); }
    void onDecision(const link::v2::Decision& decision) override
    {
        decided.push_back(decision.number());
        again += decision.again() ? 1 : 0;
        if (decision.has_refusal()) events.push_back("refused " + decision.refusal().code());
    }
    void onPool(const link::v2::PoolNews&) override { events.emplace_back("pool"); }
    void onSuspension(const link::v2::Suspension& news) override
    {
        events.emplace_back(news.suspended() ? "suspended" : "resumed");
    }
    void onSettlement(const link::v2::Settlement&) override { events.emplace_back("settlement"); }
    void onState(const link::v2::TableState&) override { events.emplace_back("state"); }
    void onUnavailable(std::optional<std::int64_t> round) override
    {
        events.push_back("unavailable " + (round ? std::to_string(*round) : "-"));
    }
    void onGoodbye(const Goodbye& goodbye) override
    {
        events.push_back("goodbye " + Goodbye::Why_Name(goodbye.why()));
    }
    void onFault(TableFault fault, std::string_view) override
    {
        events.push_back("fault " + std::string{nameOf(fault)});
    }

    [[nodiscard]] ClockReading now() const
    {
        return {.bootMs = ms, .wallMs = 1'800'000'000'000 + ms};
    }
    void connect() { session.onConnected(now()); }
    void disconnect() { session.onDisconnected(now()); }
    void say(const ToTable& message) { session.onFrame(message.SerializeAsString(), now()); }
    Result<std::uint64_t> enqueue(Command command) { return session.enqueue(command, now()); }

    // The messages that the table has sent since the last call.
    std::vector<ToDaemon> sent()
    {
        session.takeOutput(reader.buffer());
        std::vector<ToDaemon> messages;
        while (const auto frame = reader.next())
            REQUIRE(messages.emplace_back().ParseFromArray(frame->data(),
                                                           static_cast<int>(frame->size())));
        REQUIRE_FALSE(reader.isInsideFrame());
        return messages;
    }
    Numbers sentNumbers()
    {
        Numbers numbers;
        for (const auto& message : sent())
            if (message.has_command()) numbers.push_back(message.command().number());
        return numbers;
    }
    // Exchanges messages until neither side sends any.
    void talk()
    {
        for (auto messages = sent(); !messages.empty(); messages = sent())
            for (const auto& message : messages)
                for (const auto& answer : logic.answer(message)) say(answer);
    }
    void welcome(std::uint64_t lastNumber, std::uint64_t wagers = 0, bool restored = false)
    {
        ToTable message;
        message.mutable_welcome()->set_restored(restored);
        message.mutable_welcome()->set_version(kLinkVersion);
        message.mutable_welcome()->set_last_number(lastNumber);
        message.mutable_welcome()->mutable_state()->set_wagers(wagers);
        message.mutable_welcome()->mutable_state()->mutable_pool()->set_open(true);
        say(message);
    }
    void decide(std::uint64_t number, bool refused = false)
    {
        ToTable message;
        auto& decision = *message.mutable_decisions()->add_decisions();
        decision.set_number(number);
        if (refused) decision.mutable_refusal()->set_code("no");
        message.mutable_decisions()->mutable_receipt()->set_size(number);
        message.mutable_decisions()->mutable_receipt()->set_note("note " + std::to_string(number));
        say(message);
    }
    void reject(std::uint64_t number, Rejected::Why why, std::uint64_t expected = 0)
    {
        ToTable message;
        message.mutable_rejected()->set_number(number);
        message.mutable_rejected()->set_why(why);
        message.mutable_rejected()->set_expected(expected);
        say(message);
    }
    void goodbye(Goodbye::Why why)
    {
        ToTable message;
        message.mutable_goodbye()->set_why(why);
        say(message);
    }
    void pool(bool unavailable)
    {
        ToTable message;
        message.mutable_pool()->set_open(!unavailable);
        message.mutable_pool()->set_unavailable(unavailable);
        say(message);
    }
    void heartbeat()
    {
        ToTable message;
        message.mutable_heartbeat()->set_clock_ms(1);
        say(message);
    }
    Strings takeEvents() { return std::exchange(events, {}); }

    std::int64_t ms = 1'000'000;
    FakeDaemonLogic logic;
    Strings events;
    Numbers decided;
    int again = 0;
    FrameReader reader;
    TableSession session;
};

// Connects a table of which the daemon has decided `lastNumber` commands.
inline void goOnline(Table& table, std::uint64_t lastNumber = 0)
{
    table.connect();
    (void)table.sent();
    table.welcome(lastNumber);
    (void)table.takeEvents();
}

}  // namespace jackpot::linkproto::testing
