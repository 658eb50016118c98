// The protocol of one table's connection, as docs/link.md describes it: bytes in, messages to the
// writer and bytes out. No socket, no TLS, no clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "link.pb.h"
#include "linkproto/frame.h"
#include "linkproto/server/link_messages.h"
#include "linkproto/server/server_codec.h"

namespace jackpot::linkproto {

class Connection;

// What a connection needs from its server.
class ConnectionEvents {
public:
    [[nodiscard]] virtual std::int64_t nowMs() const = 0;
    // The table that the peer's certificate is for; an error if it is for none.
    virtual Result<std::uint32_t> findTable(const Connection& connection) = 0;
    // The connection is its table's from now on; the server closes an older one.
    virtual void onIdentified(const Connection& connection) = 0;
    virtual Result<rules::Command> readCommand(const v2::Command& message, std::uint32_t table) = 0;
    virtual void onIncoming(Incoming incoming) = 0;
    // True if the writer's mailbox is full; handleFrames() is called again when there is room.
    virtual bool mustStall(Connection& connection) = 0;
    virtual void onBadFrame() = 0;
    // The peer is rejected before it has identified itself as a table.
    virtual void onNotATable(const std::string& reason) = 0;
    // output() has bytes to write.
    virtual void onOutput(Connection& connection) = 0;
    // The stage is Closing now, and output() has all that is left to write.
    virtual void onClosing(Connection& connection) = 0;

protected:
    ~ConnectionEvents() = default;
};

class Connection {
public:
    enum class Stage : std::uint8_t {
        Handshake,  // of TLS: nothing can be sent
        Hello,      // waits for the peer's Hello
        Welcome,    // waits for the writer's Welcome
        Open,
        Closing,  // a Goodbye is in output(); input is ignored
    };
    static constexpr std::int64_t kGoodbyeMs = 500;  // for the peer to read the Goodbye

    // `events` outlive the connection. `deadlineMs` is that of the stages up to Hello.
    Connection(std::uint64_t id, std::string address, ConnectionEvents& events,
               std::int64_t frameTimeoutMs, std::int64_t deadlineMs);

    [[nodiscard]] std::uint64_t id() const { return id_; }
    [[nodiscard]] const std::string& address() const { return address_; }
    [[nodiscard]] Stage stage() const { return stage_; }
    [[nodiscard]] bool isClosing() const { return stage_ == Stage::Closing; }
    // False until a Hello has been accepted.
    [[nodiscard]] bool isIdentified() const { return table_.has_value(); }
    [[nodiscard]] std::optional<std::uint32_t> table() const { return table_; }
    [[nodiscard]] std::int64_t lastReceivedMs() const { return lastReceivedMs_; }

    void onHandshakeDone() { stage_ = Stage::Hello; }
    // Received bytes are appended to input(); then handleFrames() is called.
    std::string& input() { return frames_.buffer(); }
    void handleFrames();

    // Sends a reply of the writer. Decisions are collected in one frame until flushDecisions(), or
    // until another reply follows.
    void deliver(const Reply& reply, const v2::Receipt& receipt);
    void flushDecisions(const v2::Receipt& receipt);
    [[nodiscard]] bool hasDecisions() const { return decisions_.decisions_size() > 0; }
    void sendHeartbeat(std::int64_t wallClockMs);
    void closeWithGoodbye(GoodbyeReason reason, const std::string& detail);

    // The deadline of the stage, or of a frame that has begun.
    [[nodiscard]] bool isDeadlinePassed() const;
    // False if the connection is to be closed at once.
    bool onDeadline();

    std::string& output() { return output_; }

private:
    void handleFrame(std::string_view frame);
    void handleHello(const v2::Hello& hello);
    void handleCommand(const v2::Command& message);
    void handleHeartbeat(const v2::Heartbeat& heartbeat);
    void protocolError(const std::string& what);
    void deliverEach(const Decision& decision, const v2::Receipt& receipt);
    void deliverEach(const Goodbye& goodbye, const v2::Receipt& receipt);
    void deliverEach(const Settlement& settlement, const v2::Receipt& receipt);
    void deliverEach(const RepeatedDecision& repeated, const v2::Receipt& receipt);
    template <class Single>
    void deliverEach(const Single& reply, const v2::Receipt& receipt);
    template <class Large>
    void deliverEach(const std::unique_ptr<Large>& reply, const v2::Receipt& receipt)
    {
        deliverEach(*reply, receipt);
    }
    void countAnswered(std::size_t count) { inFlight_ -= std::min(inFlight_, count); }
    template <class What>
    void post(What what)
    {
        events_.onIncoming({id_, table_.value_or(0), std::move(what)});
    }
    void send(const v2::ToTable& message);
    // After the decisions that wait.
    void sendAll(const std::vector<v2::ToTable>& messages, const v2::Receipt& receipt);

    const std::uint64_t id_;
    const std::string address_;
    ConnectionEvents& events_;
    const std::int64_t frameTimeoutMs_;
    Stage stage_ = Stage::Handshake;
    std::optional<std::uint32_t> table_;
    FrameReader frames_;
    std::string output_;
    v2::Decisions decisions_;
    std::size_t decisionsBytes_ = 0;
    std::size_t inFlight_ = 0;
    std::int64_t deadlineMs_;  // 0 for none
    std::int64_t lastReceivedMs_ = 0;
};

}  // namespace jackpot::linkproto
