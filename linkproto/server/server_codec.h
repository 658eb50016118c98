// Between the link's messages and what the rules know. Pure; whatever a peer sends is bounded and
// checked here.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "link.pb.h"
#include "linkproto/limits.h"
#include "rules/commands.h"
#include "rules/outcome.h"
#include "rules/state.h"

namespace jackpot::linkproto {

namespace v1 = ::jackpot::link::v1;

// The answers to so many commands can be repeated.
static_assert(kMaxInFlight <= rules::LinkSequence::kRecent);
// Wagers, hands, cards: more than any round has, so that the rules refuse what is too much.
inline constexpr int kMaxListEntries = 64;

// A player card becomes its pseudonym.
using Pseudonym = std::function<std::string(std::string_view card)>;

// What the table asks for. An error: what is malformed about it.
Result<rules::Command> readCommand(const v1::Command& message, const std::string& table,
                                   const Pseudonym& pseudonym);

// What of an outcome concerns this table; nothing where there is nothing but that it was accepted.
std::unique_ptr<v1::Decision> toDecision(const rules::Outcome& outcome, std::uint32_t table);
// Keeps the newest of its claims, so that a frame holds it: a table whose many rounds wait finds
// the others in what it is told when they are settled.
inline constexpr int kMaxClaims = 64;
void limitClaims(v1::Decision& decision);
// What of a settlement that another command brought about; false where nothing concerns it.
bool writeSettlement(v1::Settlement& settlement, const rules::Outcome& outcome,
                     std::uint32_t table);

void writeState(v1::TableState& message, const rules::State& state, std::uint32_t table);
void writeNews(v1::PoolNews& message, const rules::Pool& pool);

}  // namespace jackpot::linkproto
