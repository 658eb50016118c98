// A table's link to jackpotd, for a table controller. It connects and reconnects by itself, in a
// thread of its own; what was sent is kept on disk until it is decided. docs/link.md describes the
// protocol, docs/pki.md the certificates.
//
//     auto link = TableLink::open({.host = "jackpot.star.example",
//                                  .table = "BJ01",
//                                  .certificate = "BJ01.pem",
//                                  .key = "BJ01.key",
//                                  .ca = "ca.pem",
//                                  .outbox = "/var/lib/table/outbox"},
//                                 {.onPool = [](const PoolNews& news) { show(news); }});
//     if (!link) return refuseToStart(link.error().message);
//     const auto number = (*link)->send(OpenRound{.round = 17, .wagers = {{.seat = 3}}});
//     const auto decision = (*link)->wait(*number, std::chrono::seconds{1});
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "linkproto/client/table_messages.h"

namespace jackpot::link {

struct Options {
    std::string host{};  // a name or an address that is in the daemon's certificate
    std::uint16_t port = 7707;
    std::string table{};
    std::filesystem::path certificate{};  // read again for each connection
    std::filesystem::path key{};
    std::filesystem::path ca{};
    std::optional<std::filesystem::path> crl{};
    std::filesystem::path outbox{};  // empty: only in memory, for tests
    std::string software = "jackpot::link";
};

// Called from the link's thread, one at a time; may call send() and the queries, not wait(). Must
// not throw.
struct Callbacks {
    std::function<void(const TableState&)> onOnline{};
    std::function<void(const std::string& why)> onOffline{};  // also each attempt that failed
    std::function<void(const Decision&)> onDecision{};
    std::function<void(const Settlement&)> onSettlement{};
    std::function<void(const PoolNews&)> onPool{};
    std::function<void(bool suspended, const std::string& reason)> onSuspension{};
    std::function<void(const TableState&)> onState{};
    // The journal can't be written. `round`, if any, has no result: a supervisor decides whether
    // its wagers are returned and play goes on without the jackpot; then send a Suspend for a
    // malfunction, which names the supervisor (BJ 16.18, UTH 11.11).
    std::function<void(std::optional<std::int64_t> round)> onUnavailable{};
    // People must look at it: see "Faults" in docs/link.md.
    std::function<void(const std::string& fault, const std::string& detail)> onFault{};
};

struct Status {
    bool online = false;
    bool mayTakeWagers = false;
    bool suspended = false;
    bool unavailable = false;
    std::int64_t displayedCents = 0;          // as received last
    std::size_t undecided = 0;                // commands in the outbox
    std::optional<std::int64_t> openRound{};  // by what this table has sent
    std::string stoppedBy{};                  // a fault, after which no commands are sent
};

// Any thread may call it, but for the destructor and what Callbacks says.
class TableLink {
public:
    // Fails where a file can't be used; a daemon that is not there is none of its failures.
    static Result<std::unique_ptr<TableLink>> open(const Options& options, Callbacks callbacks);
    // Ends within a second. What is in the outbox stays there.
    ~TableLink();
    TableLink(const TableLink&) = delete;
    TableLink& operator=(const TableLink&) = delete;

    // The command is on the disk when this returns its number, and will reach the daemon sooner or
    // later. An error means that nothing was stored: no round can be opened without a link, the
    // outbox is full, a text is too long. `ago` is how long ago it happened.
    Result<std::uint64_t> send(const Command& command,
                               std::chrono::milliseconds ago = std::chrono::milliseconds{0});
    // All of them, in this order, or none. The first one's number.
    Result<std::uint64_t> send(const std::vector<Command>& commands);
    // The decision on one of the newest thousand commands. An error where it has not come in time.
    Result<Decision> wait(std::uint64_t number, std::chrono::milliseconds timeout);

    // Asks for a TableState, which onState gets.
    void query();
    bool waitOnline(std::chrono::milliseconds timeout);
    [[nodiscard]] Status status() const;
    [[nodiscard]] TableState state() const;  // as received last

private:
    class Worker;
    explicit TableLink(std::unique_ptr<Worker> worker);
    std::unique_ptr<Worker> worker_;
};

}  // namespace jackpot::link
