// Answers the requests of jackpotctl on the control socket. Used by main's thread only.
#pragma once

#include <string>

#include "jackpotd/desk_service.h"
#include "jackpotd/displays.h"
#include "jackpotd/reload.h"
#include "jackpotd/writer.h"
#include "linkproto/server/link_server.h"

namespace jackpot {

class ControlRequests {
public:
    // `desk` is null if there is none. The others outlive it.
    ControlRequests(Reload& reload, Writer& writer, const linkproto::Server& link,
                    const Displays& displays, DeskService* desk)
        : reload_{reload}, writer_{writer}, link_{link}, displays_{displays}, desk_{desk}
    {}

    // Lines, the first of which is "ok" or "refused".
    std::string answer(const std::string& request);

private:
    [[nodiscard]] std::string status() const;
    std::string changePool(const std::string& text);
    std::string changePeople(const std::string& request);

    Reload& reload_;
    Writer& writer_;
    const linkproto::Server& link_;
    const Displays& displays_;
    DeskService* desk_;
};

}  // namespace jackpot
