// The messages between the link server and the writer, which decides commands. Plain structs: only
// the link server knows link.proto.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rules/commands.h"
#include "rules/outcome.h"
#include "rules/state.h"

namespace jackpot::linkproto {

// Makes a pseudonym of a player card.
using Pseudonym = std::function<std::string(std::string_view card)>;

struct TableConnected {
    std::string receipt;  // a signed note, or empty
    std::string software;
    std::uint64_t decided = 0;  // the highest command number that the table has a decision on
};
struct CommandReceived {
    rules::Command command;
    std::uint64_t number = 0;
    std::int64_t clockMs = 0;
    // When it was read from the link, by the link server's clock: what it then waits for its
    // decision counts as its age.
    std::int64_t receivedMs = 0;
};
struct StateRequest {};
struct WagerCountReport {
    std::uint64_t wagers = 0;
    std::uint64_t asOf = 0;  // the number of the table's last command that the count includes
};
// Nothing was received from the table for `offlineAfterMs`. The connection is 0.
struct TableTimedOut {};
// Connections that were closed before they had identified themselves as a table.
struct RejectedConnections {
    std::uint64_t count = 0;  // since the last such message
    std::string example;      // the reason of the last one
};
// The table sent a malformed command or frame. The link server has answered it already.
struct MalformedCommand {
    std::string what;
};

struct Incoming {
    std::uint64_t connection = 0;
    std::uint32_t table = 0;  // index of the table; meaningless for RejectedConnections
    std::variant<TableConnected, CommandReceived, StateRequest, WagerCountReport, TableTimedOut,
                 RejectedConnections, MalformedCommand>
        what;
};

// ---- replies; they concern one table, and become messages of link.proto in the link server

// The values are those of Rejected.Why and Goodbye.Why in link.proto.
enum class RejectionReason : std::uint8_t { Conflict = 1, OutOfOrder, Malformed, TooFast };
enum class GoodbyeReason : std::uint8_t {
    Version = 1,
    NotATable,
    Replaced,
    Silent,
    BadFrame,
    TooMuch,
    Busy,
    Shutdown,
    Unavailable,
    Locked,
};

struct Receipt {
    std::uint64_t size = 0;
    std::string root;  // 32 bytes
    std::string note;
};

struct Refusal {
    rules::RefusalCode code{};
    std::string rule;
    std::string detail;
};
// Rule, arithmetic and player are empty unless it becomes due or is locked.
struct Award {
    std::int64_t round = 0;
    std::int64_t seat = 0;
    rules::Tier tier{};
    rules::Money amount;
    std::string rule;
    std::string arithmetic;
    std::string player;  // the pseudonym of the wager's card
};
struct Refund {
    std::int64_t round = 0;
    std::int64_t seat = 0;
    rules::Money amount;
};
struct Claim {
    std::int64_t round = 0;
    std::int64_t seat = 0;
    rules::Tier tier{};
    rules::ClaimState state{};
};
// A table's part of an outcome.
struct Details {
    std::optional<Refusal> refusal;
    std::vector<Award> withdrawn;
    std::vector<Award> awards;    // that became due, in the order of payment
    std::vector<Award> locked;    // as they stand now, of each win that changed and is not due
    std::vector<Award> withheld;  // by the desk: only in a Settlement
    std::vector<Award> released;
    std::vector<Refund> refunds;
    std::vector<Claim> claims;
};

struct Decision {
    std::uint64_t number = 0;
    std::uint64_t record = 0;
    std::int64_t displayedCents = 0;
    std::unique_ptr<Details> details;  // null if the command was accepted and nothing else happened
};
// The first decision on a command that was sent again, with the receipt that covers it.
struct RepeatedDecision {
    Decision decision;
    Receipt receipt;
};
struct Rejection {
    std::uint64_t number = 0;
    RejectionReason reason{};
    std::uint64_t expected = 0;
    std::string detail;
};
struct Suspension {
    bool isSuspended = false;
    bool byDesk = false;
    std::string reason;
};
// A table's part of an outcome that is not of its own command.
struct Settlement {
    std::uint64_t record = 0;
    std::int64_t displayedCents = 0;
    Details details;  // no refusal
};
struct PoolNews {
    std::string pool;
    std::int64_t displayedCents = 0;
    bool isOpen = false;
    bool isLocked = false;  // a win has taken its money and waits for its time
    bool isHeld = false;
    bool isUnavailable = false;
};
struct TableState {
    rules::Table table;
    std::vector<rules::Win> wins;  // the table's open ones
    rules::Game game{};
    rules::Money wager;
    PoolNews pool;
};
struct Welcome {
    std::string site;
    std::string verifier;
    bool isRestored = false;
    TableState state;
};
struct Goodbye {
    GoodbyeReason reason{};
    std::string detail;
};

// Large replies, which are rare, are kept elsewhere: a decision shall take little memory.
using Reply =
    std::variant<Decision, std::unique_ptr<RepeatedDecision>, Rejection, Suspension, Settlement,
                 PoolNews, std::unique_ptr<TableState>, std::unique_ptr<Welcome>, Goodbye>;

struct Outgoing {
    std::uint64_t connection = 0;  // 0: the table's current connection
    std::uint32_t table = 0;
    Reply reply;
};

// All replies of one commit. The receipt covers every Decision and Settlement in it.
struct Delivery {
    Receipt receipt;
    std::vector<Outgoing> outgoing;
};

}  // namespace jackpot::linkproto
