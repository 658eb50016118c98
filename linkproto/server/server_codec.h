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

namespace v1 = ::jackpot::link::v1;

// The decision on each command in flight can be repeated.
static_assert(kMaxInFlight <= rules::LinkSequence::kRecent);
// Wagers, hands, cards: more than any round has, so that the rules refuse what is too much.
inline constexpr int kMaxListEntries = 64;

// An error if the message is malformed.
Result<rules::Command> readCommand(const v1::Command& message, const std::string& table,
                                   const Pseudonym& pseudonym);

// Fills an empty Decision. Of many claims it has the newest, so that a frame holds them: the table
// receives the others when they are settled.
void writeDecision(v1::Decision& message, const Decision& decision);
v1::Receipt toMessage(const Receipt& receipt);
// A settlement with many awards or claims becomes several messages; `receipt` covers it.
std::vector<v1::ToTable> toMessages(const Settlement& settlement, const v1::Receipt& receipt);
v1::ToTable toMessage(const RepeatedDecision& repeated);
v1::ToTable toMessage(const Rejection& rejection);
v1::ToTable toMessage(const Suspension& suspension);
v1::ToTable toMessage(const PoolNews& news);
v1::ToTable toMessage(const TableState& state);
v1::ToTable toMessage(const Welcome& welcome);
v1::ToTable toMessage(const Goodbye& goodbye);

}  // namespace jackpot::linkproto
