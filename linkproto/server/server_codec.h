// Between link.proto's messages and our own. Pure; what a peer sends is bounded and checked here.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "link.pb.h"
#include "linkproto/limits.h"
#include "linkproto/server/link_messages.h"
#include "rules/commands.h"

namespace jackpot::linkproto {

namespace v2 = ::jackpot::link::v2;

// The decision on each command in flight can be repeated.
static_assert(kMaxInFlight <= rules::LinkSequence::kRecent);
// Wagers, hands, cards: more than any round has, so that the rules refuse what is too much.
inline constexpr int kMaxListEntries = 64;

// An error if the message is malformed.
Result<rules::Command> readCommand(const v2::Command& message, const std::string& table,
                                   const Pseudonym& pseudonym);

// Fills an empty Decision with what a frame holds of it; the rest is in overflowOf().
void writeDecision(v2::Decision& message, const Decision& decision);
std::vector<v2::ToTable> overflowOf(const Decision& decision, const v2::Receipt& receipt);
v2::Receipt toMessage(const Receipt& receipt);
// Several messages if it is long; `receipt` covers it.
std::vector<v2::ToTable> toMessages(const Settlement& settlement, const v2::Receipt& receipt);
// The decision, and its overflow.
std::vector<v2::ToTable> toMessages(const RepeatedDecision& repeated);
v2::ToTable toMessage(const Rejection& rejection);
v2::ToTable toMessage(const Suspension& suspension);
v2::ToTable toMessage(const PoolNews& news);
v2::ToTable toMessage(const TableState& state);
v2::ToTable toMessage(const Welcome& welcome);
v2::ToTable toMessage(const Goodbye& goodbye);

}  // namespace jackpot::linkproto
