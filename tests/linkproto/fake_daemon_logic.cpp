#include "tests/linkproto/fake_daemon_logic.h"

#include <stdexcept>

#include "linkproto/limits.h"

namespace jackpot::linkproto {

using link::v2::Rejected;
using link::v2::ToDaemon;
using link::v2::ToTable;

namespace {

void fillReceipt(link::v2::Receipt& receipt, std::uint64_t size)
{
    receipt.set_size(size);
    receipt.set_root(std::string(32, 'r'));
    receipt.set_note("fake\n" + std::to_string(size) + "\n");
}

}  // namespace

link::v2::TableState FakeDaemonLogic::state() const
{
    link::v2::TableState state;
    state.set_table(table_);
    state.set_game("blazing7s");
    state.set_seats(7);
    state.set_wager_cents(500);
    state.set_wagers(wagers_);
    state.set_last_number(lastNumber());
    state.mutable_pool()->set_pool("B7");
    state.mutable_pool()->set_open(!unavailable);
    state.mutable_pool()->set_unavailable(unavailable);
    state.mutable_pool()->set_displayed_cents(1'000'000);
    for (const auto& [number, decided] : decided_) {
        if (decided.decision.has_refusal()) continue;
        if (decided.command.has_open_round()) {
            state.set_round_opened(true);
            state.set_round(decided.command.open_round().round());
            state.set_result_in(false);
            state.set_voided(false);
            state.set_closed(false);
        }
        if (decided.command.has_report_result()) state.set_result_in(true);
        if (decided.command.has_close_round()) state.set_closed(true);
        // A suspension voids a round whose result is not in.
        if (decided.command.has_void_round() ||
            (decided.command.has_suspend() && !state.result_in()))
            state.set_voided(true);
    }
    return state;
}

std::vector<ToTable> FakeDaemonLogic::answer(const ToDaemon& message)
{
    std::vector<ToTable> answers;
    switch (message.message_case()) {
        case ToDaemon::kHello: {
            hellos_.push_back(message.hello());
            auto& welcome = *answers.emplace_back().mutable_welcome();
            welcome.set_version(kLinkVersion);
            welcome.set_site("fake");
            welcome.set_last_number(lastNumber());
            *welcome.mutable_state() = state();
            break;
        }
        case ToDaemon::kCommand: answers.push_back(decide(message.command())); break;
        case ToDaemon::kHeartbeat:
            heartbeat_ = message.heartbeat();
            if (heartbeat_.as_of() == lastNumber() && heartbeat_.wagers() != wagers_)
                throw std::runtime_error{"the table has counted other wagers"};
            break;
        case ToDaemon::kQuery: *answers.emplace_back().mutable_state() = state(); break;
        case ToDaemon::MESSAGE_NOT_SET: throw std::runtime_error{"an empty message"};
    }
    return answers;
}

ToTable FakeDaemonLogic::decide(const link::v2::Command& sent)
{
    ToTable answer;
    link::v2::Command command = sent;
    command.clear_age_ms();
    if (const auto known = decided_.find(command.number()); known != decided_.end()) {
        if (known->second.command.SerializeAsString() != command.SerializeAsString())
            throw std::runtime_error{"the same number with other contents"};
        ++repeated_;
        auto& decisions = *answer.mutable_decisions();
        *decisions.add_decisions() = known->second.decision;
        decisions.mutable_decisions(0)->set_again(true);
        fillReceipt(*decisions.mutable_receipt(), lastNumber());
        return answer;
    }
    if (reject)
        if (const auto rejected = reject(command)) {
            *answer.mutable_rejected() = *rejected;
            return answer;
        }
    if (command.number() != lastNumber() + 1) {
        answer.mutable_rejected()->set_number(command.number());
        answer.mutable_rejected()->set_why(Rejected::OUT_OF_ORDER);
        answer.mutable_rejected()->set_expected(lastNumber() + 1);
        return answer;
    }
    auto& decisions = *answer.mutable_decisions();
    auto& decision = *decisions.add_decisions();
    decision.set_number(command.number());
    decision.set_record(100 + command.number());
    decision.set_displayed_cents(1'000'000 + static_cast<std::int64_t>(command.number()));
    if (refused.contains(command.number()))
        decision.mutable_refusal()->set_code("table_suspended");
    else
        wagers_ += static_cast<std::uint64_t>(command.open_round().wagers_size());
    decided_[command.number()] = {command, decision};
    fillReceipt(*decisions.mutable_receipt(), lastNumber());
    return answer;
}

}  // namespace jackpot::linkproto
