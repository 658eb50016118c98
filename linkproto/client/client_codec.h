// Between the structs of table_messages.h and the messages on the wire.
#pragma once

#include "link.pb.h"
#include "linkproto/client/table_messages.h"

namespace jackpot::linkproto {

link::v2::Command toWire(const link::Command& command);

link::Decision fromWire(const link::v2::Decision& decision);
link::Settlement fromWire(const link::v2::Settlement& settlement);
link::PoolNews fromWire(const link::v2::PoolNews& news);
link::TableState fromWire(const link::v2::TableState& state);

}  // namespace jackpot::linkproto
