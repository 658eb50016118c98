// Reads the configuration and the certificates again and applies what may change at run time. Used
// by main's thread only.
#pragma once

#include <string>

#include "config/config.h"
#include "jackpotd/desk_service.h"
#include "jackpotd/displays.h"
#include "jackpotd/log.h"
#include "jackpotd/writer.h"
#include "linkproto/server/link_server.h"

namespace jackpot {

class Reload {
public:
    // `running` is the configuration in force. `desk` is null if there is none. The others outlive
    // it.
    Reload(config::Config running, Log& log, Writer& writer, linkproto::Server& link,
           Displays& displays, DeskService* desk);

    // "ok" or "refused", and a line for each change that was applied or not. The lines are logged
    // too.
    std::string run();

private:
    std::string apply();
    Result<void> applyTls();
    Result<void> applySite(const rules::Site& wanted);
    void applyLinkLimits(const config::LinkConfig& wanted);
    Result<void> applyDesk(const config::DeskConfig& wanted);

    config::Config config_;
    Log& log_;
    Writer& writer_;
    linkproto::Server& link_;
    Displays& displays_;
    DeskService* desk_;
};

}  // namespace jackpot
