// The link's part of the configuration, as the link's server and the writer take it.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "jackpotd/log.h"
#include "jackpotd/table_commands.h"
#include "linkproto/server/link_server.h"
#include "net/tls.h"
#include "rules/site.h"

namespace jackpot {

// Raises the process's limit of descriptors as far as the system allows.
void raiseDescriptorLimit();

// With fewer connections than configured, and a warning, if the system does not allow enough
// descriptors for them besides displays, the desk and the journal's files.
linkproto::ServerSettings serverSettings(const config::Config& config, const Log& log);
net::TlsFiles tlsFiles(const config::LinkConfig& link);
TableLimits tableLimits(const config::LinkConfig& link);
std::vector<std::string> tableIds(const rules::Site& site);

}  // namespace jackpot
