// The messages between the link server and the writer, which decides commands.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "link.pb.h"
#include "linkproto/server/server_codec.h"
#include "rules/commands.h"

namespace jackpot::linkproto {

struct TableConnected {
    std::string receipt;  // a signed note, or empty
    std::string software;
    std::uint64_t decided = 0;  // the highest command number that the table has a decision on
};
struct CommandReceived {
    rules::Command command;
    std::uint64_t number = 0;
    std::int64_t clockMs = 0;
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

// The decision on a CommandReceived. `details` has the remaining fields of the Decision, if any.
struct Decided {
    std::uint64_t number = 0;
    std::uint64_t record = 0;
    std::int64_t displayedCents = 0;
    std::unique_ptr<v1::Decision> details;
};

struct Outgoing {
    std::uint64_t connection = 0;  // 0: the table's current connection
    std::uint32_t table = 0;
    std::variant<Decided, v1::ToTable> what;
};

// All messages of one commit. The receipt covers every Decided in it.
struct Delivery {
    v1::Receipt receipt;
    std::vector<Outgoing> outgoing;
};

}  // namespace jackpot::linkproto
