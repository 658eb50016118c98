// One connection of the HTTP server. The server's thread owns it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/event_loop.h"
#include "net/http_message.h"
#include "net/http_server.h"
#include "net/route.h"
#include "net/stream.h"

namespace jackpot::net {

// An event stream.
struct Feed {
    std::function<bool()> isStillAuthorized;  // unset for an anonymous client
    std::string topic;
    std::deque<std::shared_ptr<const std::string>> waiting;
    std::uint64_t lost = 0;
    std::chrono::steady_clock::time_point lastWrite;
    std::chrono::steady_clock::time_point lastProgress;
};

enum class Phase : std::uint8_t { Handshake, Reading, Working, Writing, Feeding, Lingering };

struct Connection {
    Connection(AcceptedConnection accepted, std::unique_ptr<Stream> opened, Client from,
               HttpServer::Counters& counted)
        : slot{std::move(accepted.slot)},
          stream{std::move(opened)},
          id{accepted.id},
          client{std::move(from)},
          counters{counted}
    {}

    ConnectionSlot slot;
    std::unique_ptr<Stream> stream;
    const std::uint64_t id;
    const Client client;
    HttpServer::Counters& counters;
    Phase phase = Phase::Handshake;
    std::chrono::steady_clock::time_point deadline;
    bool hasBegun = false;  // a byte of the request is there
    std::string in;
    std::string out;
    std::size_t written = 0;
    std::optional<RequestHead> head;
    const Route* route = nullptr;
    Authorized authorized;
    Request request;
    bool headOnly = false;
    bool keepAlive = true;
    std::uint32_t watched = 0;
    std::optional<Feed> feed;
};

}  // namespace jackpot::net
